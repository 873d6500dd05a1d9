"""Own the oracle's reading of docs/decisions/0003: which engine rows belong to which logged request."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from statistics import median_low
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.acceptance.oracle.engine import Span
    from tests.acceptance.oracle.gateway import Logged

HOUR_US = 3_600_000_000
_MARGIN_US = 10 * 60_000_000
_FAR_US = 5 * 60_000_000
_SLACK_US = 1_000_000
_NOISE_US = 2_000

Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """A logged request with what its engine rows add; µs, None unknown."""

    logged: Logged
    engine: str = "none"
    queue_us: int | None = None
    prefill_us: int | None = None
    decode_us: int | None = None
    frontend_us: int | None = None
    network_us: int | None = None
    first_token_us: int | None = None
    decode_tokens: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    span: Span
    arrived_us: Fraction
    by_unique_trace: bool


def join(logged: Sequence[Logged], spans: Sequence[Span]) -> list[Joined]:
    """Join hour by hour; an hour sees the rows from 10 minutes before it to 10 minutes after it."""
    rows, engine = _by_hour(logged, lambda row: row.received_us), _by_hour(spans, lambda row: row.arrived_us)
    joined: list[Joined] = []
    for hour in sorted(rows):
        start, end = hour * HOUR_US - _MARGIN_US, (hour + 1) * HOUR_US + _MARGIN_US
        near = (hour - 1, hour, hour + 1)
        window = [row for h in near for row in rows.get(h, []) if start <= row.received_us < end]
        others = [row for h in near for row in engine.get(h, []) if start <= row.arrived_us < end]
        joined += [
            each for each in _join_window(window, others) if each.logged.received_us // HOUR_US == hour
        ]
    return joined


def _by_hour(rows: Iterable, instant) -> dict[int, list]:  # type: ignore[no-untyped-def, type-arg]
    hours: dict[int, list] = defaultdict(list)  # type: ignore[type-arg]
    for row in rows:
        hours[instant(row) // HOUR_US].append(row)
    return hours


def _join_window(window: list[Logged], spans: list[Span]) -> list[Joined]:
    shared = {row.trace for row in window if row.trace} & {span.trace for span in spans if span.trace}
    requests: dict[Key, list[int]] = defaultdict(list)
    for number, row in enumerate(window):
        requests[_key(row.trace, row.request_id, shared)].append(number)
    rows: dict[Key, list[Span]] = defaultdict(list)
    for span in spans:
        rows[_key(span.trace, span.key, shared)].append(span)
    offsets = _offsets(window, requests, rows)
    claims: dict[int, list[_Claim]] = defaultdict(list)
    doubtful: set[int] = set()
    for key, claimants in rows.items():
        candidates = requests.get(key, [])
        if key[1] == "" or not candidates:
            continue
        for span in claimants:
            arrived = span.arrived_us - offsets.get(span.instance, Fraction(0))
            chosen, clear = _choose(key, arrived, window, candidates, only=len(claimants) == 1)
            if chosen is None:
                continue
            if clear:
                unique = key[0] == "trace" and len(candidates) == 1
                claims[chosen].append(_Claim(span=span, arrived_us=arrived, by_unique_trace=unique))
            else:
                doubtful.add(chosen)
    return [
        _unjoined(row, "ambiguous") if number in doubtful else _measured(row, claims.get(number, []))
        for number, row in enumerate(window)
    ]


def _key(trace: str | None, request_id: str, shared: set[str]) -> Key:
    return ("trace", trace) if trace and trace in shared else ("id", request_id)


def _offsets(
    window: list[Logged], requests: dict[Key, list[int]], rows: dict[Key, list[Span]]
) -> dict[str, Fraction]:
    leads: dict[str, list[Fraction]] = defaultdict(list)
    for key, spans in rows.items():
        if key[0] == "trace" and len(spans) == 1 and len(requests[key]) == 1:
            lead = spans[0].arrived_us - window[requests[key][0]].forwarding_us
            leads[spans[0].instance].append(Fraction(lead))
    return {instance: median_low(each) for instance, each in leads.items()}


def _choose(
    key: Key, arrived: Fraction, window: list[Logged], candidates: list[int], *, only: bool
) -> tuple[int | None, bool]:
    """Return a request, and whether it gets the row (else it is the nearest of several too alike)."""
    if len(candidates) == 1:
        single = candidates[0]
        near = abs(arrived - window[single].forwarding_us) <= _FAR_US
        if key[0] == "trace" or (only and near):
            return single, True
    distances = sorted((abs(arrived - window[number].forwarding_us), number) for number in candidates)
    nearest = distances[0][1]
    assert len(distances) == 1 or distances[0][0] != distances[1][0], (
        "no document says which of two is nearest"
    )
    row = window[nearest]
    if not row.received_us - _SLACK_US <= arrived <= row.responded_us + _SLACK_US:
        return None, False
    return nearest, len(distances) == 1 or distances[1][0] - distances[0][0] > _NOISE_US


def _measured(row: Logged, claims: list[_Claim]) -> Joined:
    if not claims:
        return _unjoined(row, "none")
    attempts = _attempts(claims)
    if not all(claim.by_unique_trace for claim in claims) and len(attempts) > max(1, row.upstreams):
        return _unjoined(row, "ambiguous")
    last_sequences = [_last(each) for each in attempts]
    final = last_sequences[-1]
    earlier = sum(span.queue_us for span in last_sequences[:-1] if not span.impossible)
    network = row.end_to_end_us - final.end_to_end_us - earlier
    if final.impossible or network < -_NOISE_US:
        return _unjoined(row, "quarantined")
    prompts = {claim.span.index: claim.span.prompt_tokens for claim in attempts[-1]}
    answers = [claim.span.completion_tokens for each in attempts for claim in each]
    first = final.first_token_us
    return Joined(
        logged=row,
        engine="joined",
        queue_us=final.queue_us + earlier,
        prefill_us=final.prefill_us,
        decode_us=final.decode_us,
        frontend_us=final.frontend_us,
        network_us=network,
        first_token_us=None if first is None or row.forwarded_us is None else row.forwarded_us + first,
        decode_tokens=final.completion_tokens,
        prompt_tokens=_sum(prompts.values()) if row.prompt_tokens is None else row.prompt_tokens,
        completion_tokens=_sum(answers) if row.completion_tokens is None else row.completion_tokens,
    )


def _unjoined(row: Logged, engine: str) -> Joined:
    return Joined(
        logged=row,
        engine=engine,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
    )


def _sum(tokens: Iterable[int | None]) -> int | None:
    known = [each for each in tokens if each is not None]
    return sum(known) if known else None


def _last(sequences: list[_Claim]) -> Span:
    ends = [claim.span.ended_us for claim in sequences]
    assert ends.count(max(ends)) == 1, "no document says which of two sequences finished last"
    return sequences[ends.index(max(ends))].span


def _attempts(claims: list[_Claim]) -> list[list[_Claim]]:
    """Group sequences under the starts, in order of starting."""
    lowest = min(claim.span.index for claim in claims)
    starts: dict[tuple[str, Fraction], list[_Claim]] = {
        (claim.span.instance, claim.arrived_us): [] for claim in claims if claim.span.index == lowest
    }
    for claim in claims:
        before = [
            (instance, at)
            for instance, at in starts
            if instance == claim.span.instance and at <= claim.arrived_us
        ]
        own = max(before, key=lambda start: start[1]) if before else min(starts, key=lambda start: start[1])
        starts[own].append(claim)
    return [starts[start] for start in sorted(starts, key=lambda start: start[1])]
