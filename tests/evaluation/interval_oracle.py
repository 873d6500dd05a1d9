"""Availability by time and promises about windows, judged by hand: loops over instants, fractions, sorted lists.

Written from the contract's words and docs/decisions/0054; nothing of the product's arithmetic is used. Times are
microseconds since 1970; requests come as (instant, weight of the answer) and are looked through again for each
interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tests.evaluation.oracle import LAST, judged_values, nearest_rank, up_to_us

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.evaluation.factories import Request

Span = tuple[int, int]


def intervals(start: int, end: int, step: int, as_of: int) -> list[Span]:
    """Return the intervals of a period that have ended; the last one is cut."""
    found = []
    while start < end:
        after = min(start + step, end)
        if after > as_of:
            break
        found.append((start, after))
        start = after
    return found


def covered(span: Span, spans: list[Span]) -> int:
    return sum(max(0, min(span[1], high) - max(span[0], low)) for low, high in spans)


def overlap(spans: list[Span], others: list[Span]) -> list[Span]:
    return [(max(a, c), min(b, d)) for a, b in spans for c, d in others if max(a, c) < min(b, d)]


@dataclass
class Interval:
    time: int
    good: int
    bad: int
    read: bool

    @property
    def n(self) -> int:
        return self.good + self.bad


def observe(
    spans: list[Span],
    looked_at: list[Span],
    gateway: list[Span],
    good: list[int],
    bad: list[int],
) -> list[Interval]:
    found = []
    for span in spans:
        pieces = overlap([span], looked_at)
        time = sum(high - low for low, high in pieces)
        read = sum(covered(piece, gateway) for piece in pieces)
        found.append(
            Interval(
                time=time,
                good=sum(low <= at < high for at in good for low, high in pieces),
                bad=sum(low <= at < high for at in bad for low, high in pieces),
                read=read == time,
            )
        )
    return found


def exceeds(n: int, bad: int, clause: dict[str, Any]) -> bool:
    return Fraction(bad, n) > clause["bad_above"]


def downtime_states(seen: list[Interval], clause: dict[str, Any], unread: str) -> list[str]:
    """Return good, bad or void for each interval, by looking ahead from each that is too small."""
    minimum = clause.get("min_requests", 0)
    states = [""] * len(seen)
    for place, each in enumerate(seen):
        if each.time == 0:
            states[place] = "void"
        elif not each.read:
            seen_bad = each.n >= max(1, minimum) and exceeds(each.n, each.bad, clause)
            states[place] = "bad" if unread == "bad" or seen_bad else "void"
        elif each.n == 0:
            states[place] = clause["empty"]
    place = 0
    while place < len(seen):
        if states[place]:
            place += 1
            continue
        group = [place]
        if clause.get("below_min") == "merge_next":
            while (
                sum(seen[each].n for each in group) < minimum
                and group[-1] + 1 < len(seen)
                and not states[group[-1] + 1]
            ):
                group.append(group[-1] + 1)
        elif seen[place].n < minimum:
            states[place] = clause["below_min"]
            place += 1
            continue
        over = exceeds(sum(seen[each].n for each in group), sum(seen[each].bad for each in group), clause)
        for each in group:
            states[each] = "bad" if over else "good"
        place = group[-1] + 1
    return states


def downtime(seen: list[Interval], clause: dict[str, Any], unread: str) -> dict[str, Any]:
    states = downtime_states(seen, clause, unread)
    down = set()
    for first in range(len(seen)):
        row = []
        for place in range(first, len(seen)):
            if states[place] == "good":
                break
            if states[place] == "bad":
                row.append(place)
        if len(row) >= clause.get("consecutive", 1):
            down |= set(row)
    # a row that is looked at from its middle is shorter, never longer: the union is that from its beginning
    counted = [
        place
        for place, state in enumerate(states)
        if place in down or (state != "void" and (seen[place].read or unread == "bad"))
    ]
    whole = sum(seen[place].time for place in counted)
    lost = sum(seen[place].time for place in down)
    return {
        "n": len(counted),
        "violations": len(down),
        "unknown": sum(not each.read for each in seen),
        "value": 1 - Fraction(lost, whole) if whole else None,
    }


def mean_error(seen: list[Interval], clause: dict[str, Any], unread: str) -> dict[str, Any]:
    ratios = []
    for each in seen:
        if each.time == 0:
            continue
        if not each.read and unread == "bad":
            ratios.append(Fraction(1))
        elif each.n:
            ratios.append(Fraction(each.bad, each.n))
        elif each.read and clause["empty"] != "void":
            ratios.append(Fraction(clause["empty"] == "bad"))
    return {
        "n": len(ratios),
        "violations": sum(ratio > 0 for ratio in ratios),
        "unknown": sum(not each.read for each in seen),
        "value": 1 - sum(ratios) / len(ratios) if ratios else None,
    }


def by_window(
    requests: list[Request], at: Callable[[Request], int], start: int, end: int, step: int
) -> list[list[Request]]:
    return [
        [each for each in requests if low <= at(each) < high]
        for low, high in intervals(start, end, step, end)
    ]


def windowed_latency(
    windows: list[list[Request]], clause: dict[str, Any], *, start: str, unknown_clock: str
) -> dict[str, Any]:
    found, unknown_in_all = [], 0
    for requests in windows:
        values, unanswered, unknown = judged_values(requests, clause["clock"], clause["at_most_us"], start)
        unknown_in_all += unknown
        last = unanswered + (unknown if unknown_clock == "bad" else 0)
        ordered = sorted(up_to_us(value) for value in values) + [LAST] * last
        if ordered:
            found.append(nearest_rank(ordered, clause["percentile"]))
    over = sum(value > clause["at_most_us"] for value in found)
    if clause["combine"] == "worst":
        value, kept = max(found, default=LAST), over == 0
    else:
        mean = Fraction(sum(found), len(found)) if found else Fraction(LAST)
        value, kept = up_to_us(mean), mean <= clause["at_most_us"]
    if LAST in found:
        value = LAST
    return {
        "n": len(found),
        "violations": over,
        "unknown": unknown_in_all,
        "value": None if value == LAST else value / 1_000_000,
        "kept": bool(found) and kept,
    }


def rate(windows: list[list[Request]], clause: dict[str, Any], *, unknown_clock: str) -> dict[str, Any]:
    """Judge speeds; a request without an answer has speed 0, which is slower than any promise."""
    judged: list[Fraction] = []
    unknown_in_all = 0
    for requests in windows:
        speeds: list[Fraction] = []
        for request in requests:
            known = request.decode_us and request.decode_tokens is not None and request.decode_tokens > 1
            if request.outcome == "ok" and known:
                micro = (request.decode_tokens - 1) * 10**12 // request.decode_us
                speeds.append(Fraction(micro, 10**6))
            elif request.outcome == "ok":
                unknown_in_all += 1
                speeds += [Fraction(0)] if unknown_clock == "bad" else []
            elif request.outcome in ("timeout", "substituted", "incomplete"):
                speeds.append(Fraction(0))
        if len(speeds) < max(1, clause["min_requests"]):
            continue
        if clause["statistic"] == "mean":
            judged.append(sum(speeds, Fraction(0)) / len(speeds))
        else:
            judged.append(nearest_rank(sorted(speeds), Fraction(clause["statistic"][1:])))
    fast = sum(speed >= clause["at_least"] for speed in judged)
    return {
        "n": len(judged),
        "violations": len(judged) - fast,
        "unknown": unknown_in_all,
        "kept": bool(judged) and fast >= clause["windows_met"] * len(judged),
    }
