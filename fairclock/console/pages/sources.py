"""Own the page of sources: how much was read through, where the gaps lie, what could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.console.pages.charts.figure import box, drawing
from fairclock.console.pages.tiles import Tile

if TYPE_CHECKING:
    from markupsafe import Markup

    from fairclock.console.pages.wording import Wording
    from fairclock.console.readings.models.sources import SourcePage

_LEAST_SHOWN = 0.002
_HEIGHT = 14


def source_parts(page: SourcePage, words: Wording) -> dict[str, Any]:
    """Return what the template of sources needs beside the reading."""
    letters = sum(each.count for source in page.sources for each in source.dead_letters)
    sides = (("gateway", page.gateway_ratio), ("engine", page.engine_ratio))
    return {
        "tiles": [
            *(
                Tile(
                    name=words.word("coverage", side),
                    value=words.text("missing") if ratio is None else words.ratio(ratio),
                    note=words.text("sources.gaps_of", n=sum(each.side == side for each in page.gaps)),
                    is_missing=ratio is None,
                    is_risk=any(each.side == side for each in page.gaps),
                )
                for side, ratio in sides
            ),
            Tile(name=words.text("sources.tile_sources"), value=words.integer(len(page.sources))),
            Tile(
                name=words.text("sources.unreadable"),
                value=words.integer(letters),
                note=words.text("sources.unreadable_note"),
                is_risk=bool(letters),
            ),
        ],
        "coverage_bars": [
            (words.word("coverage", side), _bar(page, side, words))
            for side, ratio in sides
            if ratio is not None
        ],
        "sources": [
            {"source": each, "letters": sum(letter.count for letter in each.dead_letters)}
            for each in page.sources
        ],
        "announcement": words.text("sources.announce", n=len(page.gaps)),
    }


def _bar(page: SourcePage, side: str, words: Wording) -> Markup:
    """Return the elapsed range as a bar whose gaps are cut out."""
    start = page.range.starts_at
    whole = (page.range.ends_at - start).total_seconds() or 1.0
    elapsed = (page.range.elapsed_to - start).total_seconds() / whole
    parts = [box(0, 1, 0, _HEIGHT, style="fill-track"), box(0, elapsed, 0, _HEIGHT, style="fill-good")]
    for gap in page.gaps:
        if gap.side == side:
            begins = (gap.starts_at - start).total_seconds() / whole
            length = max((gap.ends_at - gap.starts_at).total_seconds() / whole, _LEAST_SHOWN)
            parts.append(box(begins, length, 0, _HEIGHT, style="fill-bad", hint=words.text("sources.gap")))
    return drawing(
        title=words.text("sources.bar", side=words.word("coverage", side)), height=_HEIGHT, parts=parts
    )
