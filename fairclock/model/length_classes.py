"""Own how long a prompt is, in words: one definition for usage, for what contracts promise, and for ceilings of prices.

`LENGTH_CLASSES` are ranges, and long context is long too. Usage is kept by the narrowest class (`CELLS`), so that every
range is a sum of cells; a range that cuts a cell cannot be told from the ledger.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthClass:
    """A range of prompt tokens; `edges` are as contracts write them: below, at_most, above, at_least."""

    name: str
    edges: Mapping[str, int]

    @property
    def first(self) -> int:
        """Return the shortest prompt inside, in tokens."""
        return max(self.edges.get("at_least", 0), self.edges.get("above", -1) + 1)

    @property
    def last(self) -> int | None:
        """Return the longest prompt inside, in tokens; None where there is no upper edge."""
        if "at_most" in self.edges:
            return self.edges["at_most"]
        return self.edges["below"] - 1 if "below" in self.edges else None

    @property
    def cells(self) -> frozenset[str]:
        """Return the cells that it consists of."""
        found = cells_within(self.first, self.last)
        assert found is not None  # noqa: S101 - cells are cut where classes begin
        return found


LENGTH_CLASSES = (
    LengthClass(name="short", edges={"below": 512}),
    LengthClass(name="medium", edges={"at_least": 512, "at_most": 2_048}),
    LengthClass(name="long", edges={"above": 2_048}),
    LengthClass(name="long_context", edges={"above": 16_000}),
)
"""The ready classes; `long_context` is a part of `long`."""

CELLS: tuple[tuple[str, int], ...] = tuple((each.name, each.first) for each in LENGTH_CLASSES)
"""Each class up to where the next begins: (name, from how many tokens on). A prompt of unknown length is in the cell ""."""


def cells_within(lowest: int, highest: int | None) -> frozenset[str] | None:
    """Return the cells that a range of prompt tokens consists of; None where it cuts one."""
    found = set()
    edges = [(name, first, after - 1) for (name, first), (_, after) in pairwise(CELLS)]
    for name, first, last in [*edges, (*CELLS[-1], None)]:
        ends_within = highest is None or (last is not None and last <= highest)
        if first >= lowest and ends_within:
            found.add(name)
        elif (last is None or last >= lowest) and (highest is None or first <= highest):
            return None
    return frozenset(found)


def cells_of(name: str) -> frozenset[str]:
    """Return the cells of the class of a name; the cell of that name alone where it is none."""
    return next((each.cells for each in LENGTH_CLASSES if each.name == name), frozenset({name}))
