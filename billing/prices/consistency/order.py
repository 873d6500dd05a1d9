"""Own the order of versions: each begins after the one before it, and has a name of its own."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from billing.prices.consistency.tree import text, versions
from billing.prices.fields import read_local_time
from fairclock.clauses.problems import Problem
from fairclock.clauses.quantities import QuantityError
from fairclock.model.zones import instant_of_local, zone_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from fairclock.clauses.source import Tree


def versions_follow_each_other(tree: Tree) -> Iterator[Problem]:
    """Yield a problem for each version that does not begin after the one before it."""
    zone = text(tree.get("time_zone")) if isinstance(tree, dict) else None
    begun = [(path, version, _start(version.get("from"), zone)) for path, version in versions(tree)]
    for (_, earlier, before), (path, later, after) in pairwise(begun):
        if before is not None and after is not None and after <= before:
            yield Problem(
                path=(*path, "from"),
                problem="does not begin after the version before it",
                found=f"{later['from']} after {earlier['from']}",
                remedy="keep the versions in the order in which they take effect",
            )


def _start(value: Tree, zone: str | None) -> datetime | None:
    if not isinstance(value, str) or zone is None:
        return None
    try:
        return instant_of_local(read_local_time(value).replace(tzinfo=zone_of(zone)))
    except (QuantityError, ValueError):
        return None
