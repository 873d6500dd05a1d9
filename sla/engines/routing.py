"""Own which engine a gateway's upstream is: as joined requests show it, or as one name for both says it.

Nothing here reads a store. Where there is a doubt there is no answer, and the doubt is named.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairclock.model.engine_signs import Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What gateways call an engine (`upstream`, empty where that is not known), and what shows it or stands against it."""

    upstream: str
    why: str


def route_of(instance: str, pairs: Iterable[Pair]) -> Route:
    """Return the upstream whose requests `instance`, and no other engine, served.

    A request served by this engine under another upstream, or by another engine under this upstream, leaves none.
    """
    pairs = list(pairs)
    mine = {each.upstream: each.requests for each in pairs if each.instance == instance}
    if not mine:
        return Route(upstream="", why=f"no joined request shows by which upstream {instance} was reached")
    if len(mine) > 1:
        return Route(
            upstream="", why=f"{instance} was reached by more than one upstream: {', '.join(sorted(mine))}"
        )
    ((upstream, requests),) = mine.items()
    others = sorted({each.instance for each in pairs if each.upstream == upstream} - {instance})
    if others:
        named = ", ".join(name or "an engine without a name" for name in others)
        return Route(upstream="", why=f"{upstream} led to {named} as well as to {instance}")
    return Route(upstream=upstream, why=f"{requests} joined requests to {upstream} were served by {instance}")
