"""Own reports that were evaluated lately."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from fairclock.console.readings.kept import Kept
from sla.evaluation import evaluate
from sla.revisions import with_revision

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.store import Store
    from sla.contracts import Contract

FRESH = timedelta(seconds=30)
"""How old a report of a month may be; it says its ``as_of``, so an older one claims no more than it knows."""
_MOST = 64


class KeptReports:
    """The content of ``report.json`` by contract, its versions, and month; the last ones of them."""

    def __init__(self, *, software_version: str) -> None:
        self._software_version = software_version
        self._kept: Kept[dict[str, Any]] = Kept(most=_MOST, fresh=FRESH)

    def report(
        self, store: Store, versions: Sequence[Contract], month: str, as_of: datetime
    ) -> dict[str, Any]:
        """Return the report of a month as it was known at `as_of`, or a little before. Raises NotEvaluable."""

        def make() -> dict[str, Any]:
            found = evaluate(
                store, list(versions), month=month, as_of=as_of, software_version=self._software_version
            )
            return with_revision(store, found)

        key = (versions[0].id, tuple(each.version_sha256 for each in versions), month)
        return self._kept.get(key, as_of, make)[0]
