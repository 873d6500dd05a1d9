"""Report dictionaries as the evaluation writes them, by hand: each a case that the document must carry."""

from __future__ import annotations

import copy
from typing import Any

MIXED: dict[str, Any] = {
    "schema": "fairclock.report/1",
    "simulated": False,
    "contract": {
        "id": "acme-2026",
        "title": {"en": "Inference service agreement", "zh": "推理服务协议"},
        "version_sha256": "5b6f8c1e0d9a47c3b2e1f00d9c8b7a6f5e4d3c2b1a09182736455463728190ab",
        "provider": {"name": "Example Cloud"},
        "customer": {"name": "Acme Finance", "tenants": ["acme"]},
        "term": {"from": "2026-01-01", "to": "2026-12-31", "time_zone": "Asia/Shanghai"},
        "clock": {"start": "received"},
        "scope": {"models": ["deepseek-v4"], "routes": ["/v1/chat/completions"], "regions": ["cn-north"]},
        "language": {"authoritative": "zh"},
        "period": {"month": "calendar", "partial": "prorated"},
        "evaluate_per": "none",
        "retries": "all",
        "quota": {"requests_per_minute": 600, "tokens_per_minute": 2000000, "rejected_below": "bad"},
        "insufficient": {"below": 100, "verdict": "carry_over"},
    },
    "period": {
        "month": "2026-10",
        "from": "2026-09-30T16:00:00Z",
        "to": "2026-10-31T16:00:00Z",
        "time_zone": "Asia/Shanghai",
        "hours": 744,
    },
    "as_of": "2026-11-03T04:12:05.250000Z",
    "revision": None,
    "status": "draft",
    "traffic": {
        "admitted": 301542,
        "unconfirmed": 211,
        "quarantined": 17,
        "ambiguous": 4,
        "retried": 1290,
        "outcomes": {
            "ok": 297003,
            "incomplete": 61,
            "substituted": 0,
            "client_error": 1204,
            "quota_rejected": 1711,
            "capacity_rejected": 138,
            "server_error": 96,
            "timeout": 22,
            "client_aborted": 1307,
        },
    },
    "coverage": {"gateway": 1.0, "engine": 0.998611, "joined": 0.99921},
    "latency": [
        {"clock": "end_to_end", "n": 297003, "p50": 0.841, "p95": 1.502, "p99": 2.0004,
         "p99_interval": [1.973, 2.031], "max": 48.21},
        {"clock": "excluding_queue", "n": 297003, "p50": 0.802, "p95": 1.19, "p99": 1.297,
         "p99_interval": [1.281, 1.312], "max": 9.004},
        {"clock": "queue", "n": 296768, "p50": 0.000096, "p95": 0.33127, "p99": 0.98112,
         "p99_interval": [0.9612, 1.00217], "max": 46.88},
        {"clock": "inference", "n": 296768, "p50": 0.771233, "p95": 1.151, "p99": 1.248112,
         "p99_interval": [1.23, 1.26], "max": 8.901},
        {"clock": "prefill", "n": 296768, "p50": 0.0385, "p95": 0.12, "p99": 0.19, "p99_interval": [0.18, 0.2],
         "max": 1.002},
        {"clock": "decode", "n": 296768, "p50": 0.7305, "p95": 1.09, "p99": 1.18, "p99_interval": [1.17, 1.19],
         "max": 8.441},
        {"clock": "outside", "n": 296768, "p50": 0.031, "p95": 0.366, "p99": 1.021,
         "p99_interval": [1.001, 1.044], "max": 46.97},
        {"clock": "time_to_first_token", "n": 280111, "p50": 0.0966, "p95": 0.46, "p99": 1.1,
         "p99_interval": [1.08, 1.13], "max": 47.0},
        {"clock": "time_per_output_token", "n": 296001, "p50": 0.0182, "p95": 0.0244, "p99": 0.0291,
         "p99_interval": [0.0289, 0.0293], "max": 0.31},
    ],
    "breakdown": {
        "network": {"seconds": 0.011, "share": 0.0118},
        "frontend": {"seconds": 0.019, "share": 0.0203},
        "queue": {"seconds": 0.088, "share": 0.0941},
        "prefill": {"seconds": 0.046, "share": 0.0492},
        "decode": {"seconds": 0.771, "share": 0.8246},
    },
    "objectives": [
        {"name": "p99-peak", "kind": "latency", "clause": "objectives[0]", "clock": "end_to_end", "percentile": 99,
         "threshold": 2.0, "during": "peak", "where": None, "n": 71233, "violations": 727, "allowed": 712, "good": 70506,
         "bad": 727, "unknown": 0, "value": 2.0004, "interval": [1.961, 2.044], "verdict": "violated",
         "verdict_without_exclusions": "violated", "reason": None},
        {"name": "p95-regular", "kind": "latency", "clause": "objectives[1]", "clock": "end_to_end", "percentile": 95,
         "threshold": 1.5, "during": "not peak", "where": None, "n": 225770, "violations": 11288, "allowed": 11288, "good": 214482,
         "bad": 11288, "unknown": 0, "value": 1.5, "interval": [1.494, 1.506], "verdict": "met",
         "verdict_without_exclusions": "met", "reason": None},
        {"name": "p99-inference", "kind": "latency", "clause": "objectives[2]", "clock": "inference", "percentile": 99,
         "threshold": 0.3, "during": None, "where": {"prompt_tokens": {"below": 512}}, "n": 148001, "violations": 1377,
         "allowed": 1480, "good": 146624, "bad": 1377, "unknown": 211, "value": 0.287113, "interval": [0.281, 0.294],
         "verdict": "met", "verdict_without_exclusions": "met", "reason": None},
        {"name": "queue-cap", "kind": "latency", "clause": "objectives[3]", "clock": "queue", "percentile": 95,
         "threshold": 0.5, "during": None, "where": None, "n": 296768, "violations": 9034, "allowed": 14838, "good": 287734,
         "bad": 9034, "unknown": 211, "value": 0.33127, "interval": [0.3288, 0.3341], "verdict": "met",
         "verdict_without_exclusions": "met", "reason": None},
        {"name": "availability", "kind": "availability", "clause": "objectives[4]", "clock": None, "percentile": None,
         "threshold": 0.999, "during": None, "where": None, "n": 297320, "violations": 317, "allowed": 297, "good": 297003,
         "bad": 317, "unknown": 0, "value": 0.998933808691, "interval": None, "verdict": "violated",
         "verdict_without_exclusions": "violated", "reason": None},
        {"name": "ttft", "kind": "latency", "clause": "objectives[5]", "clock": "time_to_first_token", "percentile": 99,
         "threshold": 1.0, "during": None, "where": {"stream": True}, "n": 61, "violations": 0, "allowed": 0, "good": 61,
         "bad": 0, "unknown": 0, "value": 0.803, "interval": [None, None], "verdict": "insufficient_data",
         "verdict_without_exclusions": "insufficient_data", "reason": "insufficient_volume"},
    ],
    "error_budgets": [],
    "exclusions": [],
    "degradations": [],
    "incidents": [],
    "changes": [],
    "cost": None,
    "credits": [],
    "amounts": None,
    "daily": [
        {"date": f"2026-10-{day:02d}", "n": 9000 + 57 * day, "p99_with_queue": round(1.62 + 0.031 * ((day * 7) % 13), 3),
         "p99_without_queue": round(1.21 + 0.009 * ((day * 5) % 11), 3)}
        for day in range(1, 32)
    ],
    "unmeasured": {"time": "bad", "coverage_floor": 0.995, "below_floor": "violated", "unknown_clock": "bad"},
    "not_evaluated": ["exclusions", "credits", "prices"],
    "evidence": {
        "rows": 301542,
        "rows_sha256": "c1f08a6a3f5b7e0b9a4d2c6e8f1a3b5c7d9e0f2a4b6c8d0e1f3a5b7c9d0e2f4a",
        "seals": 744,
        "software_version": "0.1.0",
        "fonts": [{"family": "Noto Sans", "file": "NotoSans-Regular.ttf", "version": "2.004", "sha256": "ab" * 32}],
    },
}  # fmt: skip


def report(**changes: Any) -> dict[str, Any]:
    """Return the mixed month with top-level keys replaced; ``contract={...}`` and the like are merged in."""
    result = copy.deepcopy(MIXED)
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] |= value
        else:
            result[key] = value
    return result


def objective(which: str, /, **changes: Any) -> dict[str, Any]:
    """Return the mixed month's objective `which` with keys replaced."""
    found = next(each for each in MIXED["objectives"] if each["name"] == which)
    return copy.deepcopy(found) | changes


def all_met() -> dict[str, Any]:
    """Return a month in which every promise was kept."""
    return report(
        objectives=[objective("p95-regular"), objective("p99-inference"), objective("queue-cap")],
        not_evaluated=[],
    )


def empty_month() -> dict[str, Any]:
    """Return a month in which nothing was requested and everything was read through."""
    blank = {"n": 0, "violations": 0, "allowed": 0, "good": 0, "bad": 0, "unknown": 0, "value": None}
    unjudged = {"verdict": "insufficient_data", "verdict_without_exclusions": "insufficient_data"}
    return report(
        traffic={
            "admitted": 0,
            "unconfirmed": 0,
            "quarantined": 0,
            "ambiguous": 0,
            "retried": 0,
            "outcomes": dict.fromkeys(MIXED["traffic"]["outcomes"], 0),
        },
        coverage={"gateway": 1.0, "engine": 1.0, "joined": None},
        latency=[
            {
                "clock": each["clock"],
                "n": 0,
                "p50": None,
                "p95": None,
                "p99": None,
                "p99_interval": None,
                "max": None,
            }
            for each in MIXED["latency"]
        ],
        breakdown=None,
        objectives=[
            objective(each["name"], **blank, **unjudged, interval=None, reason="insufficient_volume")
            for each in MIXED["objectives"]
        ],
        daily=[],
        evidence={"rows": 0, "seals": 0},
    )


HOSTILE_NAMES = ("<img src=x onerror=alert(1)>", "\"'; DROP TABLE requests; --")


def hostile() -> dict[str, Any]:
    """Return a report in which every name that someone else wrote tries something."""
    return report(
        contract={
            "title": "</style><script>alert(1)</script>{{ 7 * 7 }}",
            "provider": {"name": HOSTILE_NAMES[1]},
            "customer": {
                "name": HOSTILE_NAMES[0],
                "tenants": ["=1+1", "@SUM(A1)", "acme\u202egnp.exe", "名" * 200],
            },
        },
        objectives=[
            objective("p99-peak", name="n" * 200, during="file:///etc/passwd"),
            objective("availability", name="-2+3"),
        ],
        not_evaluated=["objectives[2].<b>rate</b>"],
    )


def simulated() -> dict[str, Any]:
    """Return the mixed month of a simulation."""
    return report(simulated=True)


def chinese() -> dict[str, Any]:
    """Return a contract between parties with Chinese names."""
    return report(
        contract={
            "id": "huaxia-2026",
            "title": {"zh": "大模型推理服务等级协议", "en": "Service level agreement for model inference"},
            "provider": {"name": "示例云计算有限公司"},
            "customer": {"name": "华夏金融科技（上海）股份有限公司", "tenants": ["华夏金融"]},
        }
    )
