"""Own the benchmark of a month's evaluation: every contract's slices from rows, beside pandas and DuckDB.

``python -m benchmarks evaluating=15000000`` counts as many requests; the default is a tenth of that. All three
count the same: good and bad of 20 objectives, by tenant and minute, from the same columns. The others have one
set of thresholds for all tenants and columns that lie in memory; Fairclock has a contract a tenant, and writes
what it counted.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd

from benchmarks.measuring import Figure, timed
from benchmarks.sample import engine_line, gateway_line, requests
from fairclock.model import Interval, to_us
from fairclock.store import LineBatch, Query, open_store
from sla.contracts import examine
from sla.slices import InForce, evaluate_slices, sums_as_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairclock.store import Store
    from sla.contracts import Contract

REQUESTS = 1_500_000
TENANTS = 100
REQUESTS_AN_HOUR = 20_000
MONTH = Interval(start=datetime(2026, 10, 1, tzinfo=UTC), end=datetime(2026, 11, 1, tzinfo=UTC))
WHOLE_SECONDS = 30.0
READ_SECONDS = 5.0
INCREMENT_SECONDS = 0.5
_RATIO_TARGETED_AT = 15_000_000
_RUNS = 3
_PEAK = "hour(received_at) >= 9 AND hour(received_at) < 11"

_PEAK_HOURS = (9, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One objective, as a clause of the contract and as the SQL that DuckDB counts by."""

    clause: str
    over: str
    where: str = "true"


def _latency(number: int, clock: str, column: str, at_most_ms: int, **others: str) -> Rule:
    during = f", during: {others['during']}" if "during" in others else ""
    where = f", where: {others['where']}" if "where" in others else ""
    return Rule(
        clause=f"{{name: o{number}, latency: {{clock: {clock}, percentile: 99, at_most: {at_most_ms}ms}}{during}{where}}}",
        over=f"{column} > {at_most_ms * 1000}",
        where=others.get("sql", "true"),
    )


_CLOCKS = {
    "end_to_end": "end_to_end_us",
    "excluding_queue": "end_to_end_us - queue_us",
    "queue": "queue_us",
    "inference": "prefill_us + decode_us",
    "outside": "end_to_end_us - prefill_us - decode_us",
    "prefill": "prefill_us",
}
RULES = [
    *(
        _latency(number, clock, column, at_most)
        for number, (at_most, (clock, column)) in enumerate(
            (at_most, each) for at_most in (400, 900) for each in _CLOCKS.items()
        )
    ),
    _latency(12, "end_to_end", "end_to_end_us", 800, where="{prompt_tokens: {below: 512}}", sql="prompt_tokens < 512"),
    _latency(13, "end_to_end", "end_to_end_us", 1200, where="{prompt_tokens: {at_least: 512}}", sql="prompt_tokens >= 512"),
    _latency(14, "end_to_end", "end_to_end_us", 1500, where="{prompt_tokens: {above: 1024}}", sql="prompt_tokens > 1024"),
    _latency(15, "queue", "queue_us", 200, during="peak", sql=_PEAK),
    _latency(16, "end_to_end", "end_to_end_us", 1000, during="peak", sql=_PEAK),
    _latency(17, "end_to_end", "end_to_end_us", 1000, during="not peak", sql=f"NOT ({_PEAK})"),
    _latency(18, "decode", "decode_us", 600),
    Rule(
        clause="{name: availability, availability: {formula: request_ratio, target: 99.9%}}",
        over="false",
    ),
]  # fmt: skip
_CONTRACT = """
apiVersion: fairclock/v1
kind: Contract
id: {name}
title: Benchmark
provider: {{name: Example Cloud}}
customer: {{name: Example, tenants: [{tenants}]}}
term: {{from: {first}, to: {last}, time_zone: Etc/UTC}}
{period}clock: {{start: received}}
calendar: {{peak: [{{days: mon-sun, from: "09:00", to: "11:00"}}]}}
objectives: [{objectives}]
insufficient: {{below: 1, verdict: void}}
unmeasured: {{time: bad, coverage_floor: 0%, below_floor: violated, unknown_clock: bad}}
"""
_FILL = """
INSERT INTO requests (tenant, received_at, request_id, content_hash, k, source, model, route, region, upstream, status, outcome,
    error_code, attempts, end_to_end_us, queue_us, prefill_us, decode_us, frontend_us, prompt_tokens, completion_tokens,
    decode_tokens, engine, simulated, seal)
SELECT concat('tenant-', leftPad(toString(number % {tenants:UInt64}), 3, '0')),
    fromUnixTimestamp64Micro({start:Int64} + toInt64(number) * intDiv({length:Int64}, {requests:Int64}), 'UTC'),
    toString(number), number, 0, 'bench', 'm', '/v1/chat/completions', '', '', 200, 'ok', '', 1,
    queue_us + prefill_us + decode_us + 5000, queue_us, prefill_us, decode_us, 1000,
    cityHash64(number, 4) % 2048, 100, 100, 'joined', 1, 1
FROM (SELECT number, toInt64(cityHash64(number, 1) % 300000) AS queue_us, toInt64(20000 + cityHash64(number, 2) % 200000) AS prefill_us,
    toInt64(50000 + cityHash64(number, 3) % 1000000) AS decode_us FROM numbers({requests:UInt64}))
"""
_SEALS = """
INSERT INTO seals SELECT fromUnixTimestamp64Micro(toInt64(intDiv({start:Int64}, 3600000000) + number) * 3600000000, 'UTC'), 1,
    now64(6, 'UTC'), now64(6, 'UTC'), 0, 0 FROM numbers({hours:UInt64})
"""
_COLUMNS = "tenant, received_at, end_to_end_us, queue_us, prefill_us, decode_us, prompt_tokens"


def figures(folder: Path, requests_in_all: int = REQUESTS) -> list[Figure]:
    """Count a month of `requests_in_all` requests for 100 contracts, then one more minute of a busy hour."""
    contracts = [InForce(contract=contract_with_rules(f"tenant-{number:03d}")) for number in range(TENANTS)]
    keys = [each.key for each in contracts]
    share = requests_in_all / _RATIO_TARGETED_AT
    with open_store(f"chdb://{folder / 'store'}") as store:
        fill(store, requests_in_all, tenants=TENANTS)
        start = time.perf_counter()
        done = evaluate_slices(store, contracts)
        whole = time.perf_counter() - start
        again = _seconds(lambda: evaluate_slices(store, contracts, window=MONTH))
        read = _seconds(lambda: sums_as_of(store, keys, [MONTH], store.watermark()))
        path = folder / "columns.parquet"
        path.write_bytes(store.raw(Query(sql=f"SELECT {_COLUMNS} FROM requests"), "Parquet"))
        ours = sums_as_of(store, keys, [MONTH], store.watermark())
        bad = [sum(sums[0].tallies[number].bad for sums in ours.values()) for number in range(len(RULES))]
        increment = _increment(store, contracts)
    duck, duck_bad = _duckdb(path)
    frame, frame_bad = _pandas(path)
    if not bad == duck_bad == frame_bad:
        raise RuntimeError(f"the three do not count the same: {bad}, {duck_bad}, {frame_bad}")
    size = f"{requests_in_all:,} requests, {TENANTS} contracts of {len(RULES)} objectives"
    target = WHOLE_SECONDS if share >= 1 else None
    return [
        _timed(f"all slices from rows: {size} ({done.written:,} slices)", whole, target),
        _timed("all of them again: nothing written", again, target),
        _timed("the month's sums of every contract, from slices", read, READ_SECONDS if share >= 1 else None),
        Figure(what="pandas, the same count from columns in memory", measured=f"{frame:.2f} s", target=f"{frame / whole:.1f} x ours"),
        Figure(what="DuckDB, the same count from columns in memory", measured=f"{duck:.2f} s", target=f"{duck / whole:.1f} x ours"),
        _timed(
            f"one more minute of an hour of {REQUESTS_AN_HOUR:,} requests, {TENANTS} contracts",
            increment, INCREMENT_SECONDS,
        ),
    ]  # fmt: skip


def contract_text(
    name: str,
    clauses: Sequence[str],
    *,
    tenants: Sequence[str] = (),
    first: date = date(2026, 1, 1),
    last: date = date(2026, 12, 31),
    period: str = "",
) -> str:
    """Return a contract file with these objectives; of the tenant of its own name where none are given.

    period: the clause `period` and the end of its line, where months are not those of the calendar.
    """
    return _CONTRACT.format(
        name=name,
        tenants=", ".join(tenants or (name,)),
        first=first,
        last=last,
        period=period,
        objectives=", ".join(clauses),
    )


def contract_with_rules(name: str, **clauses: Any) -> Contract:
    """Return a contract with an objective for each of `RULES`; the rest is `contract_text`'s."""
    examination = examine(contract_text(name, [rule.clause for rule in RULES], **clauses))
    if examination.contract is None:
        raise RuntimeError(str(examination.problems))
    return examination.contract


def fill(store: Store, count: int, *, tenants: int, month: Interval = MONTH) -> None:
    """Store a month of `count` sealed requests, dealt out among `tenants` in turn."""
    start, length = to_us(month.start), month.length_us
    parameters = {"start": start, "length": length, "requests": count, "tenants": tenants}
    store.execute(Query(sql=_FILL, parameters=parameters))
    store.execute(Query(sql=_SEALS, parameters={"start": start, "hours": length // 3_600_000_000}))
    store.cover(kind="gateway", source="bench", intervals=[month])


def _increment(store: Store, contracts: list[InForce]) -> float:
    """Return the time that slices take once another minute of requests was stored, in an hour not sealed yet."""
    sample = sorted(requests(REQUESTS_AN_HOUR, seed=5), key=lambda each: each.received_ms)
    for table in ("requests", "seals"):
        store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    cut = len(sample) * 40 // 60

    def store_part(first: int, last: int) -> None:
        part = sample[first:last]
        store.ingest(LineBatch(kind="gateway", source="b", lines=[gateway_line(each) for each in part]))
        store.ingest(LineBatch(kind="engine", source="b", lines=[engine_line(each) for each in part]))

    store_part(0, cut)
    evaluate_slices(store, contracts)
    place = [cut]
    minute = len(sample) // 60

    def another_minute() -> None:
        store_part(place[0], place[0] + minute)
        place[0] += minute

    return timed(lambda: evaluate_slices(store, contracts), times=5, before=another_minute).seconds


def _duckdb(path: Path) -> tuple[float, list[int]]:
    connection = duckdb.connect(config={"threads": 2})
    connection.execute(f"CREATE TABLE requests AS SELECT * FROM '{path}'")
    columns = ", ".join(
        f"count(*) FILTER (WHERE ({rule.where}) AND NOT ({rule.over})), count(*) FILTER (WHERE ({rule.where}) AND ({rule.over})) AS bad_{number}"
        for number, rule in enumerate(RULES)
    )
    counted = f"CREATE OR REPLACE TABLE counted AS SELECT tenant, time_bucket(INTERVAL '1 minute', received_at) AS minute, {columns} FROM requests GROUP BY ALL"
    connection.execute("SET TimeZone = 'UTC'")
    seconds = _seconds(lambda: connection.execute(counted))
    sums = ", ".join(f"sum(bad_{number})" for number in range(len(RULES)))
    return seconds, [int(each) for each in connection.execute(f"SELECT {sums} FROM counted").fetchone() or ()]


def _pandas(path: Path) -> tuple[float, list[int]]:
    frame = pd.read_parquet(path)
    frame["tenant"] = frame["tenant"].astype("category")
    found: list[int] = []

    def count() -> None:
        minute = frame["received_at"].dt.floor("1min")
        hour = frame["received_at"].dt.hour
        peak = hour.isin(_PEAK_HOURS)
        columns = {}
        for number, rule in enumerate(RULES):
            over = frame.eval(rule.over) if rule.over != "false" else pd.Series(data=False, index=frame.index)
            if rule.where == _PEAK:
                where = peak
            elif rule.where == f"NOT ({_PEAK})":
                where = ~peak
            else:
                where = (
                    pd.Series(data=True, index=frame.index)
                    if rule.where == "true"
                    else frame.eval(rule.where)
                )
            columns[f"bad_{number}"] = where & over
            columns[f"good_{number}"] = where & ~over
        counted = pd.DataFrame(columns).groupby([frame["tenant"], minute], observed=True).sum()
        found[:] = [int(counted[f"bad_{number}"].sum()) for number in range(len(RULES))]

    return _seconds(count), found


def _seconds(work: object) -> float:
    start = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - start


def _timed(what: str, seconds: float, target: float | None) -> Figure:
    return Figure(
        what=what,
        measured=f"{seconds:.2f} s",
        target="" if target is None else f"<= {target:g} s",
        met=None if target is None else seconds <= target,
    )
