"""Own what the live demonstration says in the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairclock.demo.live.run import LiveResult

_US_PER_SECOND = 1_000_000


def live_json(result: LiveResult) -> dict[str, Any]:
    """Return the comparison as plain JSON values; durations in seconds."""
    comparison = result.comparison
    return {
        "agrees": result.agrees,
        "disagreements": list(comparison.disagreements),
        "sent": comparison.sent,
        "logged": comparison.logged,
        "joined": comparison.joined,
        "engine_finished": comparison.engine_finished,
        "outcomes": {str(outcome): count for outcome, count in sorted(comparison.outcomes.items())},
        "end_to_end_median_difference": comparison.median_difference_us / _US_PER_SECOND,
        "end_to_end_largest_difference": comparison.largest_difference_us / _US_PER_SECOND,
        "queue": comparison.queue_us / _US_PER_SECOND,
        "engine_queue": comparison.engine_queue_us / _US_PER_SECOND,
        "p99_with_queueing": comparison.p99_end_to_end_us / _US_PER_SECOND,
        "p99_without_queueing": comparison.p99_excluding_queue_us / _US_PER_SECOND,
        "out": str(result.directory),
        "reports": [str(path) for path in result.reports],
    }


def live_text(result: LiveResult) -> str:
    """Return the comparison for a person."""
    values = live_json(result)
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in values["outcomes"].items())
    off = [f"{values[f'end_to_end_{which}_difference'] * 1000:.1f} ms" for which in ("median", "largest")]
    lines = [
        f"{values['sent']} requests sent, {values['logged']} logged, {values['joined']} joined: {outcomes}",
        f"P99 with queueing {values['p99_with_queueing']:.3f} s, without {values['p99_without_queueing']:.3f} s",
        f"end_to_end is {off[0]} from the clients' own watches at the median, {off[1]} at most",
        f"queue sums to {values['queue']:.3f} s; vLLM's own counter says {values['engine_queue']:.3f} s",
        *(f"DISAGREES: {sentence}" for sentence in values["disagreements"]),
        *(f"  {path}" for path in values["reports"]),
    ]
    return "\n".join(lines)
