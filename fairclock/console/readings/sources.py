"""Own the page of sources: coverage as the report has it, its gaps, and who sends what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.console.readings.models.base import Anchor, Basis, Lack
from fairclock.console.readings.models.sources import DeadLetters, Gap, SourcePage, SourceRow
from fairclock.console.readings.ranges import elapsed_of, resolved
from fairclock.model import total_us
from fairclock.store.source_listing import sources_within
from sla.calendars import complement
from sla.evaluation.numbers import ratio

if TYPE_CHECKING:
    from fairclock.console.readings.protocol import Wanted
    from fairclock.console.readings.view import View
    from fairclock.model import Interval

_MOST_GAPS = 500


def source_page(view: View, wanted: Wanted) -> SourcePage:
    """Return coverage and gaps; the sources' names are for those who may see machines."""
    shown = resolved(wanted, view.as_of)
    window = elapsed_of(shown)
    gateway = view.store.covered("gateway", window, view.as_of)
    engine = view.store.covered("engine", window, view.as_of)
    gaps = _gaps("gateway", gateway, window) + _gaps("engine", engine, window)
    lacking = [*([Lack.CUT_SHORT] if len(gaps) > _MOST_GAPS else [])]
    if not view.caller.sees_all:
        lacking.append(Lack.NOT_FOR_TENANTS)
    return SourcePage(
        range=shown,
        as_of=view.as_of,
        lacking=tuple(lacking),
        gateway_ratio=ratio(total_us(gateway), window.length_us),
        engine_ratio=ratio(total_us(engine), window.length_us),
        gaps=tuple(gaps[:_MOST_GAPS]),
        sources=_sources(view, window) if view.caller.sees_all else (),
        measured=view.measured(Anchor.SOURCES, Basis.NOTES),
    )


def _gaps(side: str, covered: list[Interval], window: Interval) -> list[Gap]:
    return [Gap(side=side, starts_at=each.start, ends_at=each.end) for each in complement(covered, window)]


def _sources(view: View, window: Interval) -> tuple[SourceRow, ...]:
    return tuple(
        SourceRow(
            kind=each.kind,
            source=each.source,
            newest_at=each.covered_to,
            covered_to=each.covered_to,
            covered_ratio=min(1.0, each.covered_us / window.length_us) if window.length_us else None,
            dead_letters=tuple(
                DeadLetters(reason=reason, count=count) for reason, count in each.dead_letters.items()
            ),
        )
        for each in sources_within(view.store, window, view.as_of)
    )
