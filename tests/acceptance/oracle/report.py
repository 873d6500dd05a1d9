"""Own the oracle's report: the keys of report.json that the documents define, as exact fractions.

The oracle is a second, brute-force computation of a month, written from the documents and not from the product:
standard library only (and PyYAML for a contract's text), lists, integers, exact ranks. Slow on purpose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from tests.acceptance.oracle.contract import Clauses, from_us, period_us, read_contract, term_us
from tests.acceptance.oracle.engine import read_engine
from tests.acceptance.oracle.gateway import read_gateway
from tests.acceptance.oracle.joining import Joined, join
from tests.acceptance.oracle.judging import CLOCKS, Case, availability_line, latency_line, tally
from tests.acceptance.oracle.quota import refused_below
from tests.acceptance.oracle.ranking import in_seconds, nearest_rank, ranks_around

if TYPE_CHECKING:
    from pathlib import Path

    from tests.acceptance.oracle.gateway import Logged

OUTCOMES = (
    "ok",
    "incomplete",
    "substituted",
    "client_error",
    "quota_rejected",
    "capacity_rejected",
    "server_error",
    "timeout",
    "client_aborted",
)
Covers = Mapping[str, Sequence[tuple[int, int]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    clauses: Clauses
    rows: Sequence[Joined]
    covers: Covers
    as_of_us: int


def expected_report(
    *,
    contract: Path,
    month: str,
    gateway: Sequence[Path],
    engine: Sequence[Path],
    covers: Covers,
    as_of_us: int,
) -> dict[str, Any]:
    """Compute a month from the raw files alone; `covers` in µs by kind."""
    clauses = read_contract(contract)
    rows = join(read_gateway(gateway), read_engine(engine))
    known = _Known(clauses=clauses, rows=rows, covers=covers, as_of_us=as_of_us)
    start, end = period_us(clauses, month)
    until = min(end, as_of_us)
    coverage = _coverage(covers, start, until)
    cases = _cases(clauses, rows, start, end)
    good = [case for case in cases if case.outcome == "ok"]
    joined = [case for case in good if case.row.engine == "joined"]
    outcomes = Counter(case.outcome for case in cases)
    read_through = _union(covers.get("engine", ()), start, until)
    return {
        "traffic": {
            "admitted": len(cases),
            "excluded": 0,
            "unconfirmed": sum(
                case.row.engine != "joined"
                and any(a <= case.row.logged.received_us < b for a, b in read_through)
                for case in good
            ),
            "outcomes": {name: outcomes[name] for name in OUTCOMES},
            "quarantined": sum(case.row.engine == "quarantined" for case in cases),
            "ambiguous": sum(case.row.engine == "ambiguous" for case in cases),
            "retried": sum(case.row.logged.upstreams > 1 for case in cases),
        },
        "coverage": {
            kind: None if share is None else float(share)
            for kind, share in (
                coverage | {"joined": Fraction(len(joined), len(good)) if good else None}
            ).items()
        },
        "latency": [_distribution(name, good) for name in CLOCKS],
        "breakdown": _breakdown(joined),
        "daily": _daily(good, clauses, start, end),
        "objectives": [
            _line(objective, known, month)
            for objective in clauses["objectives"]
            if "latency" in objective or "availability" in objective
        ],
    }


def _cases(clauses: Clauses, rows: Sequence[Joined], start: int, end: int) -> list[Case]:
    return [case for case in _in_term(clauses, rows) if start <= case.row.logged.received_us < end]


def _in_term(clauses: Clauses, rows: Sequence[Joined]) -> list[Case]:
    scope = clauses.get("scope", {})
    connected = clauses["clock"]["start"] == "connected"
    start, end = term_us(clauses)
    found = []
    for row in rows:
        logged = row.logged
        if (
            start <= logged.received_us < end
            and logged.tenant in clauses["customer"]["tenants"]
            and (logged.model == "" or logged.model in scope.get("models", [logged.model]))
            and (logged.region == "" or logged.region in scope.get("regions", [logged.region]))
            and logged.route in scope.get("routes", [logged.route])
        ):
            handshake = (logged.connected_us or 0) if connected else 0
            found.append(Case(row=row, outcome=_outcome(clauses, logged), handshake_us=handshake))
    below = refused_below(found, clauses)
    return [replace(case, below_quota=answer) for case, answer in zip(found, below, strict=True)]


def _outcome(clauses: Clauses, logged: Logged) -> str:
    for rule in clauses.get("outcomes", []):
        if (
            int(rule.get("status", logged.status)) == logged.status
            and rule.get("error_code", logged.error_code) == logged.error_code
        ):
            return str(rule["is"])
    return logged.outcome


def _coverage(covers: Covers, start: int, until: int) -> dict[str, Fraction | None]:
    return {
        kind: Fraction(sum(b - a for a, b in _union(covers.get(kind, ()), start, until)), until - start)
        if until > start
        else None
        for kind in ("gateway", "engine")
    }


def _line(objective: Clauses, known: _Known, month: str) -> dict[str, Any]:
    clauses = known.clauses
    start, end = period_us(clauses, month)
    coverage = _coverage(known.covers, start, min(end, known.as_of_us))
    cases = _cases(clauses, known.rows, start, end)
    if clauses["insufficient"]["verdict"] == "carry_over":
        before = (date.fromisoformat(f"{month}-01") - timedelta(days=1)).strftime("%Y-%m")
        own = _cases(clauses, known.rows, *period_us(clauses, before))
        if own and _was_left_open(_line(objective, known, before), clauses):
            cases = own + cases
    if "availability" in objective:
        return availability_line(objective, cases, clauses, coverage)
    return latency_line(objective, tally(objective, cases, clauses), clauses, coverage)


def _was_left_open(line: dict[str, Any], clauses: Clauses) -> bool:
    """Tell whether there were too few to be judged, and no verdict: then they join the next month, only that."""
    return line["n"] < int(clauses["insufficient"]["below"]) and line["verdict"] not in ("met", "violated")


def _distribution(clock: str, good: list[Case]) -> dict[str, Any]:
    values = sorted(value for case in good if (value := case.clock(clock)) is not None)
    n = len(values)
    p50, p95, p99 = (in_seconds(values, nearest_rank(Fraction(percentile), n)) for percentile in (50, 95, 99))
    return {
        "clock": clock,
        "n": n,
        "p50": p50,
        "p95": p95,
        "p99": p99,
        "p99_interval": [in_seconds(values, rank) for rank in ranks_around(Fraction(99), n)] if n else None,
        "max": in_seconds(values, n),
    }


def _daily(good: list[Case], clauses: Clauses, start: int, end: int) -> list[dict[str, Any]]:
    """Return each local day's P99 with the queue and without."""
    zone = ZoneInfo(clauses["term"]["time_zone"])
    day, last = from_us(start, zone).date(), from_us(end - 1, zone).date()
    days = []
    while day <= last:
        cases = [case for case in good if from_us(case.row.logged.received_us, zone).date() == day]
        with_queue, without = (
            _distribution(clock, cases)["p99"] for clock in ("end_to_end", "excluding_queue")
        )
        days.append(
            {
                "date": day.isoformat(),
                "n": len(cases),
                "p99_with_queue": with_queue,
                "p99_without_queue": without,
            }
        )
        day += timedelta(days=1)
    return days


def _breakdown(joined: list[Case]) -> dict[str, Any]:
    whole = sum(case.end_to_end_us for case in joined)
    phases = {}
    for name in ("network", "frontend", "queue", "prefill", "decode"):
        spent = sum(
            # the five add up to `end_to_end`, where that begins with the handshake too
            getattr(case.row, f"{name}_us") + (case.handshake_us if name == "network" else 0)
            for case in joined
        )
        phases[name] = {
            "seconds": _six_digits(Fraction(spent, len(joined) * 1_000_000)) if joined else None,
            "share": float(Fraction(spent, whole)) if whole else None,
        }
    return phases


def _six_digits(value: Fraction) -> Fraction:
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return Fraction(exact.quantize(Decimal("0.000001"), rounding=ROUND_HALF_EVEN))


def _union(intervals: Sequence[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for a, b in sorted((max(a, start), min(b, end)) for a, b in intervals):
        if a >= b:
            continue
        if merged and a <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(b, merged[-1][1]))
        else:
            merged.append((a, b))
    return merged
