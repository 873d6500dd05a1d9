"""A sweep that takes its time: every moment of every lane on its own, in exact rationals."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from fairclock.store import Query

QUANTA = 2**40


@dataclass(frozen=True, kw_only=True)
class Ran:
    """One sequence: where, whose (None: nobody's), how heavy, from when to when."""

    engine: str
    owner: int | None
    begun_us: int
    ended_us: int
    weight: int = 1
    tenant: str = "acme"


@dataclass
class Book:
    """What each got of one lane in one piece of time."""

    exact: dict[int, Fraction] = field(
        default_factory=lambda: defaultdict(Fraction)
    )  # by place in the timeline
    rounded: dict[int, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    busy_us: int = 0
    free: Fraction = Fraction(0)


def divide(timeline, lanes, edges_us, division):
    """Return a Book for each (lane from 1, piece); `rounded` is by the stated rule, before the last rounding down."""
    books = defaultdict(Book)
    for number, lane in enumerate(lanes, start=1):
        gpus = Fraction(lane.numerator, lane.denominator)
        mine = [(place, each) for place, each in enumerate(timeline) if each.engine == lane.engine]
        instants = {*edges_us, lane.from_us, lane.to_us}
        for _, each in mine:
            if (
                each.begun_us < each.ended_us
            ):  # what took no time got nothing, and nothing is rounded because of it
                instants |= {each.begun_us, each.ended_us}
        ordered = sorted(each for each in instants if edges_us[0] <= each <= edges_us[-1])
        for start, end in pairwise(ordered):
            if not lane.from_us <= start < lane.to_us:
                continue
            running = [
                (place, each) for place, each in mine if each.begun_us <= start and end <= each.ended_us
            ]
            if not running:
                continue
            book = books[(number, max(edge for edge in edges_us if edge <= start))]
            weights = {place: each.weight if division == "tokens" else 1 for place, each in running}
            divisor = sum(weights.values())
            if division == "per_slot":
                divisor = max(divisor, lane.slots)
            capacity = gpus * (end - start) * 10**6
            unit = Fraction(math.floor(capacity * QUANTA / divisor), QUANTA)
            book.busy_us += end - start
            book.free += unit * (divisor - sum(weights.values()))
            for place, weight in weights.items():
                book.exact[place] += capacity * weight / divisor
                book.rounded[place] += unit * weight
    return books


def as_query(timeline):
    """Return the timeline as the sweep reads it; the row's place takes the tenant's column."""
    columns = list(
        zip(
            *(
                (each.engine, each.owner or 0, str(place), each.weight, each.begun_us, each.ended_us)
                for place, each in enumerate(timeline)
            ),
            strict=True,
        )
    )
    return Query(
        sql="SELECT row.1 AS instance, toUInt128(row.2) AS row_id, toLowCardinality(row.3) AS tenant, toInt64(row.4) AS weight, weight AS kv_tokens,"
        " toInt64(row.5) AS begun_us, toInt64(row.6) AS ended_us FROM (SELECT arrayJoin(arrayZip({t1:Array(String)}, {t2:Array(UInt64)},"
        " {t3:Array(String)}, {t4:Array(Int64)}, {t5:Array(Int64)}, {t6:Array(Int64)})) AS row)",
        parameters={f"t{number}": list(column) for number, column in enumerate(columns, start=1)},
    )  # fmt: skip
