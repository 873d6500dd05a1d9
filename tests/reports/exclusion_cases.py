"""A month with exclusions of every state and degradations, as the evaluation writes them."""

from __future__ import annotations

from typing import Any

from tests.reports import factories

_CAP = {
    "claimed_seconds": 7200.0,
    "granted_seconds": 7200.0,
    "allowed_seconds": 14400.0,
    "used_seconds": 14400.0,
}


def _exclusion(**changes: Any) -> dict[str, Any]:
    said = {
        "id": "ex-0a1b2c3d",
        "clause": "exclusions.maintenance",
        "state": "accepted",
        "automatic": False,
        "from": "2026-10-10T18:00:00Z",
        "to": "2026-10-10T20:00:00Z",
        "recurrence": None,
        "time_zone": "Asia/Shanghai",
        "upstream": None,
        "reason": "New disks in every node",
        "author": "Li Wei, Example Cloud",
        "evidence": "CHG-1042",
        "recorded_at": "2026-10-06T08:00:00Z",
        "notice": {"at": "2026-10-06T08:00:00Z", "to": ["sla@acme.example"]},
        "answer": {
            "state": "accepted",
            "author": "Zhang Min, Acme Finance",
            "at": "2026-10-07T02:00:00Z",
            "comment": None,
            "evidence": "mail of 7 October",
        },
        "in_contract": True,
        "late": False,
        "retroactive": False,
        "windows": [_window("2026-10-10T18:00:00Z", "2026-10-10T20:00:00Z")],
        "cap": _CAP,
        "effect": {
            "requests": 812,
            "verdicts": [{"objective": "availability", "is": "met", "would_be": "violated"}],
        },
    }
    return said | changes


def _window(start: str, end: str, **changes: Any) -> dict[str, Any]:
    return {
        "from": start,
        "to": end,
        "late": False,
        "retroactive": False,
        "counts": False,
        "change": None,
    } | changes


EXCLUSIONS: list[dict[str, Any]] = [
    _exclusion(
        id="ex-77aa0912",
        recurrence="FREQ=WEEKLY;BYDAY=SU\nEXDATE:20261011",
        windows=[
            _window("2026-10-03T18:00:00Z", "2026-10-03T19:00:00Z", late=True, counts=True),
            *(_window(f"2026-10-{day}T18:00:00Z", f"2026-10-{day}T19:00:00Z") for day in (17, 24)),
        ],
        effect={"requests": 402, "verdicts": []},
    ),
    _exclusion(),
    _exclusion(
        id="cold_start:engine-3:20261012T010000.000000Z",
        clause="exclusions.cold_start",
        state="automatic",
        automatic=True,
        to="2026-10-12T01:06:30.250000Z",
        upstream="10.0.0.3:8000",
        reason=None,
        author=None,
        evidence="engine_states",
        notice=None,
        answer=None,
        windows=[_window("2026-10-12T01:00:00Z", "2026-10-12T01:06:30.250000Z")],
        cap=_CAP
        | {
            "claimed_seconds": 390.25,
            "granted_seconds": 390.25,
            "allowed_seconds": 1800.0,
            "used_seconds": 390.25,
        },
        effect={"requests": 1, "verdicts": []},
    ),
    _exclusion(
        id="ex-5d5d5d5d",
        clause="exclusions.third_party_network",
        state="disputed",
        reason="The carrier's line was cut <b>for hours</b>",
        evidence=None,
        notice=None,
        retroactive=True,
        windows=[_window("2026-10-20T02:00:00Z", "2026-10-20T02:00:00.500000Z", retroactive=True)],
        answer={
            "state": "disputed",
            "author": "Zhang Min, Acme Finance",
            "at": "2026-10-22T02:00:00Z",
            "comment": "Other customers of that carrier were served",
            "evidence": None,
        },
        cap=_CAP | {"claimed_seconds": 0.5, "granted_seconds": 0.0, "allowed_seconds": None},
        effect={
            "requests": 3012,
            "verdicts": [{"objective": "p99-peak", "is": "violated", "would_be": "met"}],
        },
    ),
    _exclusion(
        id="ex-0e0e0e0e",
        clause="exclusions.weather",
        state="proposed",
        to=None,
        in_contract=False,
        answer=None,
        notice=None,
        windows=[_window("2026-10-25T00:00:00Z", "2026-10-31T16:00:00Z", change="clocks_back")],
        effect={"requests": 0, "verdicts": []},
    ),
    _exclusion(id="ex-99999999", state="revoked", effect=None),
]

DEGRADATIONS: list[dict[str, Any]] = [
    {
        "id": "dg-0123456789ab",
        "mode": "int8",
        "level": "reduced",
        "from": "2026-10-14T02:00:00Z",
        "to": "2026-10-14T05:00:00Z",
        "tenants": ["acme"],
        "reason": "Memory ran short after a GPU was lost",
        "author": "the gateway",
        "origin": "api",
        "recorded_at": "2026-10-14T02:00:03Z",
        "seconds": 10800.0,
        "requests": 5120,
        "requests_by_mode": {"": 20, "fp16": 100, "int8": 5000},
    },
    {
        "id": "dg-ba9876543210",
        "mode": "short_context",
        "level": None,
        "from": "2026-10-30T02:00:00Z",
        "to": None,
        "tenants": [],
        "reason": "Long prompts crowd short ones",
        "author": "Li Wei",
        "origin": "command",
        "recorded_at": "2026-10-30T02:10:00Z",
        "seconds": 136800.0,
        "requests": 0,
        "requests_by_mode": {},
    },
]


def excluded() -> dict[str, Any]:
    """Return the mixed month, availability met thanks to an exclusion."""
    report = factories.report(
        traffic={"excluded": 1215}, exclusions=EXCLUSIONS, degradations=DEGRADATIONS, not_evaluated=[]
    )
    for each in report["objectives"]:
        if each["name"] == "availability":
            each.update(verdict="met", verdict_without_exclusions="violated", violations=290, bad=290)
    return report


def nothing_excluded() -> dict[str, Any]:
    """Return the mixed month, looked through for exclusions in vain."""
    return factories.report(traffic={"excluded": 0}, not_evaluated=[])
