"""Own how an evaluation becomes a revision: added where its figures differ from the latest one's, else not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from fairclock.errors import StoreError
from fairclock.store.evaluations import Evaluation, evaluations_as_of, keep_evaluation
from sla.revisions.figures import digest_of, figures_of, written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairclock.store import Store

_TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The revision that holds for a contract's month now, and whether this evaluation made it."""

    contract: str
    month: str
    revision: int
    as_of: datetime
    is_new: bool

    def tree(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "contract": self.contract,
            "month": self.month,
            "revision": self.revision,
            "as_of": self.as_of.isoformat(),
            "new": self.is_new,
        }


def keep_revision(store: Store, report: Mapping[str, Any], *, inputs: str) -> Kept:
    """Keep what `report` says of its month unless the latest revision says it, or knows more.

    However often and by however many at once it is called, a revision is one row. One that was read as of an
    earlier instant than the latest revision adds nothing: it would undo what came since.
    """
    figures = figures_of(report)
    contract, month = str(report["contract"]["id"]), str(report["period"]["month"])
    as_of, digest = datetime.fromisoformat(str(report["as_of"])), digest_of(figures)
    is_new = False
    for _ in range(_TRIES):
        known = evaluations_as_of(store, contract, month)
        latest = known[-1] if known else None
        if latest is not None and (latest.digest == digest or latest.as_of >= as_of):
            return Kept(
                contract=contract, month=month, revision=latest.revision, as_of=latest.as_of,
                is_new=is_new and latest.as_of == as_of,
            )  # fmt: skip
        entry = Evaluation(
            contract=contract,
            month=month,
            revision=len(known) + 1,
            as_of=as_of,
            digest=digest,
            inputs=inputs,
            figures=written(figures),
            program=str(report["evidence"]["software_version"]),
        )
        keep_evaluation(store, entry)
        is_new = True
    raise StoreError(
        f"the evaluation of {contract} in {month}",
        "others add revisions all the time",
        remedy="let one program evaluate",
    )
