"""Own an engine's start as the evaluation needs it: where its requests went, and the first one that it served.

Nothing here reads a store or a clock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairclock.model import utc_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sla.engines.lives import Life
    from sla.engines.routing import Route


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One start. first_served: when the first request that it served was received; None while there is none.

    by_then: a scrape shows no more than that it had served one by `first_served`.
    route: what gateways call it, or why that is not known.
    """

    life: Life
    first_served: datetime | None
    route: Route
    by_then: bool = False

    @property
    def evidence(self) -> str:
        """Return what shows the start, the route and the first served request."""
        return f"{self.life.evidence}; {self.route.why}; {self._served}"

    @property
    def brief(self) -> str:
        """Return the same without the number of requests that show the route, which grows for a while."""
        route = "" if self.route.upstream else f"{self.route.why}; "
        return f"{self.life.evidence}; {route}{self._served}"

    @property
    def _served(self) -> str:
        if self.first_served is None:
            return "no request that it served is known"
        at = utc_text(self.first_served)
        if self.by_then:
            return f"its request_success shows at {at} that it had served a request"
        return f"it first served a request received at {at}"


def agreed(starts: Sequence[Start]) -> list[Start]:
    """Return `starts` so that what one series knows of an upstream's first served request holds for the others.

    Scrapes date the process and the plugin the loaded engine: two starts of one life, and the earlier first request
    is the first.
    """
    found = []
    for each in starts:
        if each.first_served is None or not each.route.upstream:
            found.append(each)
            continue
        others = [
            other.first_served
            for other in starts
            if other.route.upstream == each.route.upstream
            and other.first_served is not None
            and each.life.began <= other.life.began <= each.first_served
        ]
        earliest = min([each.first_served, *others])
        found.append(
            replace(each, first_served=earliest, by_then=each.by_then and earliest == each.first_served)
        )
    return found
