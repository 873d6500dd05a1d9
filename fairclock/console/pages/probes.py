"""Own the page of probes: what was seen from outside, against what gateways and engines measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.console.pages.states import plain_state
from fairclock.console.pages.tiles import Tile

if TYPE_CHECKING:
    from fairclock.console.pages.wording import Wording
    from fairclock.console.readings.models.probes import ProbePage, ProbeTarget


def probe_parts(page: ProbePage, words: Wording) -> dict[str, Any]:
    """Return what the template of probes needs beside the reading."""
    return {
        "targets": [
            {"target": each, "tiles": _tiles(each, words), "state": _state(each, words)}
            for each in page.targets
        ]
    }


def _state(target: ProbeTarget, words: Wording) -> Any:
    if target.last_outcome is None:
        return plain_state(words.text("probes.never"), "")
    word = words.word("outcomes", target.last_outcome)
    return plain_state(
        words.text("probes.last", outcome=word), "good" if target.last_outcome == "ok" else "risk"
    )


def _tiles(target: ProbeTarget, words: Wording) -> list[Tile]:
    unit = words.text("seconds_unit")

    def seconds(name: str, value: float | None, note: str = "") -> Tile:
        return Tile(
            name=words.text(f"probes.{name}"),
            value=words.text("missing") if value is None else words.seconds(value),
            unit="" if value is None else unit,
            note=note,
            is_missing=value is None,
        )

    return [
        Tile(
            name=words.text("probes.answered"),
            value=words.ratio(target.answered_ratio),
            note=words.text("probes.answered_of", answered=words.integer(target.answered), n=target.sent),
            is_missing=target.answered_ratio is None,
        ),
        Tile(
            name=words.text("probes.failed"),
            value=words.integer(target.failed),
            note=words.text("probes.unsent", n=target.unsent) if target.unsent else "",
            is_risk=bool(target.unsent),
        ),
        seconds("p50", target.p50_seconds),
        seconds("p99", target.p99_seconds),
        seconds("lateness", target.lateness_p99_seconds, words.text("probes.lateness_note")),
    ]
