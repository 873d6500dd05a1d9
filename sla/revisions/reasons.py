"""Own why figures differ, as far as the store can tell: what came in between two evaluations.

Which of several reasons moved a figure cannot be told, so each difference names all that could have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.model import utc_text
from fairclock.model.remedies import ExclusionState
from fairclock.store.evaluations import arrivals
from fairclock.store.remedies import exclusion_entries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store.remedies import Rows
    from sla.revisions.differences import Difference
    from sla.revisions.figures import Figures

_ALL = ("late_rows", "late_coverage", "exclusion", "contract_version", "program_version")
_MONEY = (*_ALL, "ledger")
_OF_MONEY = ("cost.", "amounts.", "credit")
_BY_ROWS = ("late_rows", "late_coverage", "contract_version", "program_version")
_MAY_MOVE = {
    "exclusion": ("exclusion", "contract_version"),
    "versions": ("contract_version",),
    "admitted": _BY_ROWS,
    "rows_sha256": _BY_ROWS,
    "coverage.gateway": _BY_ROWS,
    "coverage.engine": _BY_ROWS,
    "coverage.joined": _BY_ROWS,
}


def reasons_between(
    store: Rows,
    contract: str,
    tenants: Sequence[str],
    period: Interval,
    *,
    before: tuple[Figures, datetime, str],
    after: tuple[Figures, datetime, str],
) -> list[dict[str, Any]]:
    """Return what came between two evaluations, each given as (figures, as of, program version)."""
    (old, since, old_program), (new, until, new_program) = before, after
    found: list[dict[str, Any]] = []
    late = arrivals(store, period, tenants, after=since, until=until)
    span = {"stored_after": utc_text(since), "stored_by": utc_text(until)}
    if late.gateway_rows or late.engine_rows:
        counts = {"gateway_rows": late.gateway_rows, "engine_rows": late.engine_rows}
        found.append({"reason": "late_rows", **counts, **span})
    if late.coverage_notes:
        found.append({"reason": "late_coverage", "notes": late.coverage_notes, **span})
    found += _exclusions(store, contract, _regranted(old, new), since, until)
    if old["versions"] != new["versions"]:
        found.append(
            {
                "reason": "contract_version",
                "before": [each["version_sha256"] for each in old["versions"]],
                "after": [each["version_sha256"] for each in new["versions"]],
            }
        )
    if old.get("money") != new.get("money"):
        found.append({"reason": "ledger", **span})
    if old_program != new_program:
        found.append({"reason": "program_version", "before": old_program, "after": new_program})
    return found


def reasons_of(difference: Difference, reasons: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return those of `reasons` that could have moved a figure."""
    is_money = difference.what.startswith(_OF_MONEY) or difference.what in {"value", "verdict", "n"}
    may_move = _MAY_MOVE.get(difference.what, _MONEY if is_money else _ALL)
    whose = {each["id"] for each in (difference.before, difference.after) if isinstance(each, dict)}
    return [
        each
        for each in reasons
        if each["reason"] in may_move
        and (each["reason"] != "exclusion" or difference.what != "exclusion" or each["id"] in whose)
    ]


def _regranted(old: Figures, new: Figures) -> dict[str, str]:
    """Return the exclusions that leave out something else now, each with its clause."""
    one, other = old["exclusions"], new["exclusions"]
    return {
        id_: (other.get(id_) or one[id_])["clause"]
        for id_ in sorted({*one, *other})
        if one.get(id_) != other.get(id_)
    }


def _exclusions(
    store: Rows, contract: str, regranted: Mapping[str, str], since: datetime, until: datetime
) -> list[dict[str, Any]]:
    """Return what was last said of each exclusion between the two; None where nobody said anything.

    Then it was found by itself, or has another part of a cap because of another one.
    """
    if not regranted:
        return []
    said = {
        entry.id: {"state": str(entry.state), "at": utc_text(entry.stored_at)}
        for entry in exclusion_entries(store, as_of=until, contract=contract)
        if entry.state is not ExclusionState.PROPOSED
        and entry.stored_at is not None
        and entry.stored_at > since
    }
    return [
        {"reason": "exclusion", "id": id_, "clause": clause, **said.get(id_, {"state": None, "at": None})}
        for id_, clause in regranted.items()
    ]
