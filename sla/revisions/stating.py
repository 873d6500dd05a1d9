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
    before = read_figures(previous.figures)
    after = (figures, known[-1].as_of, known[-1].program) if is_kept else (figures, as_of, program)
    reasons = reasons_between(
        store,
        contract,
        report["contract"]["customer"]["tenants"],
        Interval(
            start=datetime.fromisoformat(report["period"]["from"]),
            end=datetime.fromisoformat(report["period"]["to"]),
        ),
        before=(before, previous.as_of, previous.program),
        after=after,
    )
    return {
        **report,
        "revision": number,
        "previous_revision": {"revision": previous.revision, "as_of": utc_text(previous.as_of)},
        "changes": [
            {
                "objective": each.objective,
                "part": None if each.part is None else dict(each.part),
                "what": each.what,
                "before": each.before,
                "after": each.after,
                "why": reasons_of(each, reasons),
            }
            for each in differences(before, figures)
        ],
    }
