"""Own the small good contract that scripts change, clause by clause, as text."""

from __future__ import annotations

import re
from textwrap import dedent

GOOD = """\
apiVersion: fairclock/v1
kind: Contract
id: scripted
title: {en: Inference service agreement, zh: 推理服务协议}
provider: {name: Example Cloud}
customer: {name: Acme Finance, tenants: [acme]}
term: {from: 2026-01-01, to: 2026-12-31, time_zone: Asia/Shanghai}
clock: {start: received}
objectives:
  - {name: p99, latency: {clock: end_to_end, percentile: 99, at_most: 2s}}
  - {name: availability, availability: {formula: request_ratio, target: 99.9%}}
insufficient: {below: 1, verdict: void}
unmeasured: {time: bad, coverage_floor: 99.5%, below_floor: void, unknown_clock: bad}
expected_requests_per_month: 1000000
"""
_KEY = re.compile(r"([A-Za-z_]+):")


def changed(text: str, block: str, *, without: str = "") -> str:
    """Return `text` with its top-level clauses replaced by those of `block`, and `without` taken away.

    Raises ValueError for lines that belong to no clause and for clauses to take away that are not there.
    """
    clauses = _clauses(text) | _clauses(dedent(block))
    for name in filter(None, (each.strip() for each in without.split(","))):
        if name not in clauses:
            raise ValueError(f"has no clause {name} to be without")
        del clauses[name]
    return "".join(clauses.values())


def _clauses(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        key = _KEY.match(line)
        if key:
            name = key[1]
            if name in found:
                raise ValueError(f"has the clause {name} twice")
            found[name] = ""
        elif not name:
            raise ValueError(f"belongs to no clause ({line})")
        found[name] += f"{line}\n"
    return found


def zone_of(text: str) -> str:
    """Return the zone in which a contract's local times are meant; raises ValueError."""
    match = re.search(r"time_zone: *([^\s,}]+)", text)
    if match is None:
        raise ValueError("has no time_zone")
    return match[1]
