"""Own the oracle's reading of CONTRACT 2: who is judged, and what met means."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tests.acceptance.oracle.contract import Clauses, duration_us, in_period, ratio
from tests.acceptance.oracle.ranking import in_seconds, nearest_rank, ranks_around

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.acceptance.oracle.joining import Joined

MEASURED_ONLY = ("queue", "prefill", "time_to_first_token")
OVER = ("timeout", "substituted", "incomplete")
BAD = ("incomplete", "substituted", "server_error", "timeout", "capacity_rejected")
GATEWAY_CLOCKS = ("end_to_end", "excluding_queue")
CLOCKS = (
    "end_to_end",
    "excluding_queue",
    "queue",
    "inference",
    "prefill",
    "decode",
    "outside",
    "time_to_first_token",
    "time_per_output_token",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A request in scope with the outcome that the contract gives it."""

    row: Joined
    outcome: str
    handshake_us: int
    below_quota: bool = False

    @property
    def end_to_end_us(self) -> int:
        """Return the gateway's time from where the contract starts its clock."""
        return self.row.logged.end_to_end_us + self.handshake_us

    def clock(self, name: str) -> Fraction | None:
        """Return the clock's value in µs, or nothing where it is unknown."""
        row, value = self.row, None
        if name == "end_to_end":
            value = self.end_to_end_us
        elif name == "excluding_queue":
            value = self.end_to_end_us - (row.queue_us or 0)
        elif row.queue_us is None or row.prefill_us is None or row.decode_us is None:
            return None
        elif name == "queue":
            value = row.queue_us
        elif name == "prefill":
            value = row.prefill_us
        elif name == "decode":
            value = row.decode_us
        elif name == "inference":
            value = row.prefill_us + row.decode_us
        elif name == "outside":
            value = self.end_to_end_us - row.prefill_us - row.decode_us
        elif name == "time_to_first_token":
            value = row.first_token_us
        elif name == "time_per_output_token" and row.decode_tokens is not None and row.decode_tokens > 1:
            value = -(
                -row.decode_us // (row.decode_tokens - 1)
            )  # microseconds are whole; up, against the provider
        return None if value is None else Fraction(value)


@dataclass(slots=True, kw_only=True)
class Tally:
    """What an objective counts: answered values that are judged, unanswered ones, unknown ones."""

    values: list[Fraction]
    unanswered: int = 0
    unknown: int = 0


def tally(objective: Clauses, cases: Iterable[Case], contract: Clauses) -> Tally:
    """Count who is judged by a latency objective."""
    clause = objective["latency"]
    threshold = duration_us(clause["at_most"])
    counted = Tally(values=[])
    for case in chosen(objective, cases, contract):
        value = case.clock(clause["clock"])
        if case.outcome == "ok" or (
            case.outcome in (*OVER, "client_aborted") and clause["clock"] in MEASURED_ONLY
        ):
            if value is None:
                counted.unknown += 1
            else:
                counted.values.append(value)
        elif case.outcome in OVER or (case.outcome == "client_aborted" and case.end_to_end_us > threshold):
            counted.unanswered += 1
    return counted


def chosen(objective: Clauses, cases: Iterable[Case], contract: Clauses) -> list[Case]:
    """Return the cases that `during` and `where` admit; what is not known is admitted."""
    where = objective.get("where", {})
    return [
        case
        for case in cases
        if in_period(contract, objective.get("during"), case.row.logged.received_us)
        and all(_admits(case, name, condition) for name, condition in where.items())
    ]


def _admits(case: Case, name: str, condition: Any) -> bool:
    if name == "stream":
        known = case.row.logged.stream
        return known is None or known is (condition == "true")
    assert name == "prompt_tokens", name
    tokens = case.row.prompt_tokens
    return tokens is None or (
        tokens < int(condition.get("below", tokens + 1)) and tokens >= int(condition.get("at_least", tokens))
    )


def judge(*, over: int, n: int, allowed: Fraction, contract: Clauses, coverage: Fraction | None) -> str:
    """Return the verdict: enough of them, not too many over, and measured at all."""
    insufficient = contract["insufficient"]
    if n < int(insufficient["below"]):
        verdict = {"met": "met", "violated": "violated"}.get(insufficient["verdict"], "insufficient_data")
    else:
        verdict = "met" if over <= allowed * n else "violated"
    floor = contract["unmeasured"].get("coverage_floor")
    if floor is not None and verdict != "violated" and (coverage is None or coverage < ratio(floor)):
        return "violated" if contract["unmeasured"]["below_floor"] == "violated" else "not_measured"
    return verdict


def latency_line(
    objective: Clauses, counted: Tally, contract: Clauses, coverage: dict[str, Fraction | None]
) -> dict[str, Any]:
    """Return what report.json says of a latency objective."""
    clause = objective["latency"]
    threshold, percentile = duration_us(clause["at_most"]), Fraction(clause["percentile"])
    bad = contract["unmeasured"]["unknown_clock"] == "bad"
    last = counted.unanswered + (counted.unknown if bad else 0)
    n = len(counted.values) + last
    over = sum(value > threshold for value in counted.values) + last
    ordered = sorted(counted.values)
    gateway, engine = coverage["gateway"], coverage["engine"]
    lower = None if gateway is None or engine is None else min(gateway, engine)
    return {
        "name": objective["name"],
        "clock": clause["clock"],
        "percentile": percentile,
        "threshold": threshold / 1_000_000,
        "n": n,
        "violations": over,
        "unknown": counted.unknown,
        "allowed": (100 - percentile) * n // 100,
        "good": n - over,
        "bad": over,
        "value": in_seconds(ordered, nearest_rank(percentile, n)),
        "interval": [in_seconds(ordered, rank) for rank in ranks_around(percentile, n)] if n else None,
        "verdict": judge(
            over=over,
            n=n,
            allowed=(100 - percentile) / 100,
            contract=contract,
            coverage=gateway if clause["clock"] in GATEWAY_CLOCKS else lower,
        ),
    }


def availability_line(
    objective: Clauses, cases: Iterable[Case], contract: Clauses, coverage: dict[str, Fraction | None]
) -> dict[str, Any]:
    """Return what report.json says of a `request_ratio` objective."""
    target = ratio(objective["availability"]["target"])
    counted = chosen(objective, cases, contract)
    good = sum(case.outcome == "ok" for case in counted)
    bad = sum(
        case.outcome in BAD or (case.outcome == "quota_rejected" and case.below_quota) for case in counted
    )
    return {
        "name": objective["name"],
        "threshold": float(target),
        "n": good + bad,
        "violations": bad,
        "unknown": 0,
        "allowed": (1 - target) * (good + bad) // 1,
        "good": good,
        "bad": bad,
        "value": float(Fraction(good, good + bad)) if good + bad else None,
        "verdict": judge(
            over=bad, n=good + bad, allowed=1 - target, contract=contract, coverage=coverage["gateway"]
        ),
    }
