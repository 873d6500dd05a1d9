"""Own requests.parquet: every request that the report counts, with all that is needed to count it again."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairclock.model import Interval, from_us, to_us
from fairclock.store.requests import HOUR_US, open_hours_of
from sla.bundle.tables import write_table
from sla.evaluation.dataset import rows_of
from sla.evaluation.fragments import named, select, sql
from sla.evaluation.subject import subject_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from fairclock.store import Store
    from sla.bundle.reach import Judging
    from sla.evaluation.subject import Subject
    from sla.exclusions import Plan

_ROWS_A_PIECE = 250_000
_SELECTED = {
    "id": ("text", "lower(hex(content_hash))"),
    "k": ("count", "k"),
    "tenant": ("text", "toString(tenant)"),
    "received_us": ("count", "at_us"),
    "model": ("text", "toString(model)"),
    "route": ("text", "toString(route)"),
    "region": ("text", "toString(region)"),
    "upstream": ("text", "toString(upstream)"),
    "status": ("count", "status"),
    "outcome": ("text", "toString(outcome)"),
    "error_code": ("text", "toString(error_code)"),
    "stream": ("count", "stream"),
    "inference_mode": ("text", "toString(inference_mode)"),
    "attempts": ("count", "attempts"),
    "end_to_end_us": ("count", "end_to_end_us"),
    "connected_us": ("count", "connected_us"),
    "queue_us": ("count", "queue_us"),
    "prefill_us": ("count", "prefill_us"),
    "decode_us": ("count", "decode_us"),
    "frontend_us": ("count", "frontend_us"),
    "time_to_first_token_us": ("count", "time_to_first_token_us"),
    "prompt_tokens": ("count", "prompt_tokens"),
    "cached_tokens": ("count", "cached_tokens"),
    "completion_tokens": ("count", "completion_tokens"),
    "decode_tokens": ("count", "decode_tokens"),
    "engine": ("text", "toString(engine)"),
    "simulated": ("count", "simulated"),
}
COLUMNS = {
    **{name: kind for name, (kind, _) in _SELECTED.items()},
    "exclusion": "text",
    "seal": "count",
}
"""The file's columns; `exclusion` is the one that leaves a request out, if any."""


def write_requests(store: Store, path: Path, judges: Sequence[Judging], as_of: datetime) -> int:
    """Write the requests of all versions, by the instant of receipt, and return how many they were."""
    return write_table(path, COLUMNS, _pieces(store, judges, as_of))


def _pieces(store: Store, judges: Sequence[Judging], as_of: datetime) -> Iterator[Mapping[str, list[Any]]]:
    stretches = [(window, each) for each in judges for window in each.windows() if window.start < as_of]
    for window, each in sorted(stretches, key=lambda stretch: stretch[0].start):
        subject = subject_of(each.contract, in_force=each.in_force)
        left_out = _LeftOut.by((each.remedied.exclusions.plan, *each.remedied.before))
        seals = _seals(store, window, as_of)
        for part in _parts(store, subject, window, as_of):
            columns = _columns(store, subject, part, as_of)
            instants = columns["received_us"]
            columns["exclusion"] = [
                left_out.name(at, upstream)
                for at, upstream in zip(instants, columns["upstream"], strict=True)
            ]
            columns["seal"] = [seals.get(at // HOUR_US) for at in instants]
            yield columns


def _parts(store: Store, subject: Subject, window: Interval, as_of: datetime) -> Iterator[Interval]:
    """Yield a window in parts of at most about `_ROWS_A_PIECE` requests, so that memory stays bounded."""
    hours = store.rows(
        select(
            (sql(f"intDiv(at_us, {HOUR_US}) AS hour"), sql("count()")),
            rows_of(store, subject, window, as_of),
            sql("GROUP BY hour ORDER BY hour"),
        )
    )
    return parted(window, [(int(hour), int(count)) for hour, count in hours], most=_ROWS_A_PIECE)


def parted(window: Interval, hours: Sequence[tuple[int, int]], *, most: int) -> Iterator[Interval]:
    """Yield a window in parts of at most `most` requests; `hours` are (number since 1970, requests), in time order.

    An hour that has more is split evenly, as if its requests were spread evenly.
    """
    start, held = window.start, 0
    for number, count in hours:
        begin = max(window.start, from_us(number * HOUR_US))
        if held and held + count > most:
            yield Interval(start=start, end=begin)
            start, held = begin, 0
        pieces = -(-count // most)
        step = (min(window.end, from_us((number + 1) * HOUR_US)) - begin) / pieces
        for _ in range(pieces - 1):
            end = begin + step
            yield Interval(start=start, end=end)
            start = begin = end
        held = held + count if pieces == 1 else count // pieces
    yield Interval(start=start, end=window.end)


def _columns(store: Store, subject: Subject, part: Interval, as_of: datetime) -> dict[str, list[Any]]:
    query = select(
        [named(sql(expression), f"said_{name}") for name, (_, expression) in _SELECTED.items()],
        rows_of(store, subject, part, as_of),
        sql("ORDER BY said_received_us, said_id, said_k, said_tenant, said_route"),
    )
    found = store.columns(query)
    return {name: list(found.get(f"said_{name}", ())) for name in _SELECTED}


def _seals(store: Store, part: Interval, as_of: datetime) -> dict[int, int]:
    """Return the seal of each hour (its number since 1970) that was read from one, not joined anew."""
    open_ = {start // HOUR_US for start in open_hours_of(store, part, as_of)}
    found = {to_us(hour) // HOUR_US: seal for hour, seal in store.seals_as_of(part, as_of)}
    return {hour: seal for hour, seal in found.items() if hour not in open_}


@dataclass(frozen=True, slots=True)
class _LeftOut:
    """What is left out, looked up by instant: for each upstream (empty: all) disjoint pieces in time order."""

    starts: dict[str, list[int]]
    pieces: dict[str, list[tuple[int, int, str]]]

    @classmethod
    def by(cls, plans: Sequence[Plan]) -> _LeftOut:
        pieces: dict[str, list[tuple[int, int, str]]] = {}
        for plan in plans:
            for each in plan.pieces:
                span = (to_us(each.time.start), to_us(each.time.end), each.id)
                pieces.setdefault(each.upstream, []).append(span)
        for found in pieces.values():
            found.sort()
        return cls({name: [each[0] for each in found] for name, found in pieces.items()}, pieces)

    def name(self, at_us: int, upstream: str) -> str:
        """Return the id of the exclusion that leaves a request out; empty where none does."""
        for whose in dict.fromkeys(("", upstream)):
            place = bisect_right(self.starts.get(whose, ()), at_us) - 1
            if place >= 0:
                _, end, id_ = self.pieces[whose][place]
                if at_us < end:
                    return id_
        return ""
