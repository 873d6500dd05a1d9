"""Own what the live demonstration says in the terminal when it has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.demo.live.comparison import MOST_MEDIAN_DIFFERENCE_US, MOST_QUEUE_DIFFERENCE_RATIO

if TYPE_CHECKING:
    from fairclock.demo.live.run import LiveResult


def summary_rows(result: LiveResult) -> list[tuple[str, str, str]]:
    """Return (what, what Fairclock found, what it is held against) for a table of three columns."""
    found = result.comparison
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(found.outcomes.items()))
    return [
        ("requests", f"{found.logged} logged", f"{found.sent} sent"),
        (
            "outcomes",
            outcomes,
            f"{len(found.wrong_outcomes)} differ from what the client did (0 allowed)",
        ),
        (
            "end_to_end",
            f"{_milliseconds(found.median_difference_us)} from the clients' watches at the median",
            f"{_milliseconds(MOST_MEDIAN_DIFFERENCE_US)} allowed; the largest is {_milliseconds(found.largest_difference_us)}",
        ),
        (
            "queue",
            f"{_seconds(found.queue_us)} in all, {found.queue_difference_ratio:.4%} from vLLM's own counter",
            f"{_seconds(found.engine_queue_us)} by that counter; {MOST_QUEUE_DIFFERENCE_RATIO:.0%} allowed",
        ),
        (
            "engine rows",
            f"{found.joined} joined, {len(found.wrong_joins)} wrongly, {found.ok_without_engine} missing",
            f"{found.engine_finished} finished by vLLM",
        ),
        ("P99 with queueing", _seconds(found.p99_end_to_end_us), ""),
        ("P99 without queueing", _seconds(found.p99_excluding_queue_us), "the same requests, ranked again"),
    ]


def _seconds(microseconds: int) -> str:
    return f"{microseconds / 1_000_000:.3f} s"


def _milliseconds(microseconds: int) -> str:
    return f"{microseconds / 1_000:.1f} ms"
