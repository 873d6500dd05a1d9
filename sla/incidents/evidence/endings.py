"""Own how the bad requests ended, where they did not end well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sla.incidents.evidence.finding import Evidence

if TYPE_CHECKING:
    from sla.incidents.observations import Observed


def outcomes(seen: Observed) -> Evidence | None:
    """Tell how many of the bad ones ended otherwise than `ok`, by outcome."""
    failed = {name: count for name, count in sorted(seen.outcomes.items()) if name != "ok" and count}
    if not failed:
        return None
    numbers = {"bad": seen.over.requests, "failed": sum(failed.values())}
    return Evidence(kind="outcomes", numbers={**numbers, **failed}, sources=("requests",))
