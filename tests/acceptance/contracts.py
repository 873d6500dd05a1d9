"""Own the contracts that the invented months are judged by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

DAYS = ("mon-sun", "mon-fri", "sat,sun", "fri-mon", "wed")
WINDOWS = (("00:00", "24:00"), ("01:30", "02:30"), ("02:15", "02:45"), ("22:00", "06:00"), ("09:30", "11:30"))
THRESHOLDS = {
    "end_to_end": ("300ms", "500ms", "2s", "1.999s", "9s"),
    "queue": ("1us", "23us", "500ms"),
    "excluding_queue": ("300ms", "2s"),
    "inference": ("300ms", "1.5s"),
    "prefill": ("100ms", "1s"),
    "decode": ("100ms", "1s"),
    "outside": ("1ms", "500ms", "2s"),
    "time_to_first_token": ("50ms", "500ms", "1s"),
    "time_per_output_token": ("23us", "900us", "10ms"),
}
"""What a clock may take; on values that occur, so that equality decides."""


def good_contract(**changes: Any) -> dict[str, Any]:
    """Return a contract without a flaw, with `changes` to its top level."""
    return {
        "apiVersion": "fairclock/v1",
        "kind": "Contract",
        "id": "acme-2026",
        "title": {"en": "Inference service agreement", "zh": "推理服务协议"},
        "language": {"authoritative": "en"},
        "provider": {"name": "Example Cloud"},
        "customer": {"name": "Acme Finance", "tenants": ["acme"]},
        "term": {"from": "2026-01-01", "to": "2026-12-31", "time_zone": "Asia/Shanghai"},
        "clock": {"start": "received"},
        "objectives": [
            latency("p99", "end_to_end", 99, "2s"),
            {"name": "availability", "availability": {"formula": "request_ratio", "target": "99.9%"}},
        ],
        "insufficient": {"below": 1, "verdict": "void"},
        "unmeasured": {
            "time": "bad",
            "coverage_floor": "99.5%",
            "below_floor": "violated",
            "unknown_clock": "bad",
        },
        "expected_requests_per_month": 1_000_000,
    } | changes


def latency(name: str, clock: str, percentile: float, at_most: str, **more: Any) -> dict[str, Any]:
    """Return a latency objective."""
    return {
        "name": name,
        "latency": {"clock": clock, "percentile": percentile, "at_most": at_most},
    } | more


def random_contract(
    random: Random, *, name: str, zone: str, month: str, tenants: list[str]
) -> dict[str, Any]:
    """Return a contract that uses every clause which is evaluated, drawn by `random`."""
    periods = {
        f"period{number}": [
            {"days": random.choice(DAYS), "from": start, "to": end}
            for start, end in random.sample(WINDOWS, random.randint(1, 2))
        ]
        for number in (1, 2)
    }
    conditions: list[dict[str, Any]] = [
        {},
        {"during": random.choice(["", "not "]) + random.choice(list(periods))},
        {"where": {"stream": random.choice([True, False])}},
        {"where": {"prompt_tokens": random.choice([{"below": 512}, {"at_least": 512}])}},
        {"during": "not period1", "where": {"prompt_tokens": {"at_least": 1, "below": 512}, "stream": True}},
    ]
    objectives = [
        latency(
            f"{clock}-{number}",
            clock,
            random.choice([50, 90, 95, 99, 99.9]),
            random.choice(thresholds),
            **condition,
        )
        for clock, thresholds in THRESHOLDS.items()
        for number, condition in enumerate([{}, random.choice(conditions)])
    ]
    objectives += [
        {
            "name": f"availability-{number}",
            "availability": {"formula": "request_ratio", "target": random.choice(["99.9%", "50%", "75%"])},
        }
        | condition
        for number, condition in enumerate([{}, *conditions[1:3]])
    ]
    scope = {"models": ["deepseek-v4"], "routes": ["/v1/chat/completions"], "regions": ["cn-north"]}
    scoped = random.sample(list(scope), random.randint(0, 2))
    return good_contract(
        id=name,
        customer={"name": "Several", "tenants": tenants},
        term={
            "from": random.choice(["2026-01-01", "2026-01-01", f"{month}-09"]),
            "to": random.choice(["2026-12-31", "2026-12-31", f"{month}-27"]),
            "time_zone": zone,
        },
        scope={each: scope[each] for each in scoped},
        clock={"start": random.choice(["received", "received", "connected"])},
        outcomes=random.choice(
            [
                [],
                [
                    {"status": 503, "error_code": "QpsExceeded", "is": "quota_rejected"},
                    {"status": 500, "is": "client_error"},
                    {"status": 404, "is": "timeout"},
                ],
            ]
        ),
        calendar=periods,
        quota={
            "requests_per_minute": random.choice([2, 5, 600]),
            "tokens_per_minute": random.choice([1_000, 20_000, 10_000_000]),
            "rejected_below": random.choice(["bad", "bad", "not_counted"]),
        },
        objectives=objectives,
        insufficient={
            "below": random.choice([1, 20, 100]),
            "verdict": random.choice(["void", "met", "violated", "carry_over"]),
        },
        unmeasured={
            "time": "bad",
            "coverage_floor": random.choice(["99.5%", "20%"]),
            "below_floor": random.choice(["violated", "void"]),
            "unknown_clock": random.choice(["bad", "void"]),
        },
    )


def write_contract(contract: dict[str, Any], folder: Path) -> Path:
    """Write the file ``ID.yaml``."""
    path = folder / f"{contract['id']}.yaml"
    path.write_text(yaml.safe_dump(contract, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return path
