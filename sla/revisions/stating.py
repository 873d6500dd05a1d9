"""Own what a report says of its revision: which one it is, and what changed since the one before."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from fairclock.model import Interval, utc_text
from fairclock.store.evaluations import evaluations_as_of
from sla.revisions.differences import differences
from sla.revisions.figures import digest_of, figures_of, read_figures
from sla.revisions.reasons import reasons_between, reasons_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairclock.store.remedies import Rows
    from sla.revisions.figures import Figures

    _Evaluated = tuple[Figures, datetime, str]


def with_revision(store: Rows, report: Mapping[str, Any]) -> dict[str, Any]:
    """Return `report` with `revision`, `previous_revision` and `changes`.

    The revision is that of the kept evaluation, as far as it was there at the report's `as_of`, whose figures
    the report has; where it has others it is the next one. The same `as_of` gives the same answer.
    """
    figures = figures_of(report)
    contract, as_of = str(report["contract"]["id"]), datetime.fromisoformat(str(report["as_of"]))
    program = str(report["evidence"]["software_version"])
    known = evaluations_as_of(store, contract, str(report["period"]["month"]), as_of)
    is_kept = bool(known) and known[-1].digest == digest_of(figures)
    earlier = known[:-1] if is_kept else known
    number = len(earlier) + 1
    if not earlier:
        return {**report, "revision": number, "previous_revision": None, "changes": []}
    previous = earlier[-1]
    after = (figures, known[-1].as_of, known[-1].program) if is_kept else (figures, as_of, program)
    return {
        **report,
        "revision": number,
        "previous_revision": {"revision": previous.revision, "as_of": utc_text(previous.as_of)},
        "changes": changes_between(
            store,
            report,
            before=(read_figures(previous.figures), previous.as_of, previous.program),
            after=after,
        ),
    }


def changes_since(store: Rows, report: Mapping[str, Any], before: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what `report` says otherwise than an earlier report of its month, each figure with what could have moved it."""
    return changes_between(store, report, before=_evaluated(before), after=_evaluated(report))


def changes_between(
    store: Rows, report: Mapping[str, Any], *, before: _Evaluated, after: _Evaluated
) -> list[dict[str, Any]]:
    """Return what differs between two evaluations of a report's month, each given as (figures, as of, program version)."""
    reasons = reasons_between(
        store,
        str(report["contract"]["id"]),
        report["contract"]["customer"]["tenants"],
        Interval(
            start=datetime.fromisoformat(report["period"]["from"]),
            end=datetime.fromisoformat(report["period"]["to"]),
        ),
        before=before,
        after=after,
    )
    return [
        {
            "objective": each.objective,
            "part": None if each.part is None else dict(each.part),
            "what": each.what,
            "before": each.before,
            "after": each.after,
            "why": reasons_of(each, reasons),
        }
        for each in differences(before[0], after[0])
    ]


def _evaluated(report: Mapping[str, Any]) -> _Evaluated:
    return (
        figures_of(report),
        datetime.fromisoformat(str(report["as_of"])),
        str(report["evidence"]["software_version"]),
    )
