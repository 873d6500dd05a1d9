"""Own which of the incidents found now is which of those that were known: a late row moves a start, and no name.

An incident keeps the name under which it was first told as long as it has a minute in common with what was told.
Where two grow together the name told first stays, and the other is withdrawn; where one falls apart, the earliest
part keeps the name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.model import from_us
from sla.incidents.identity import incident_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sla.incidents.grouping import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An incident as it was last told: its name, its interval, and when its name was first stored, in microseconds.

    is_withdrawn: it was told, and taken back; where it comes again it comes under its name.
    """

    id: str
    start_us: int
    end_us: int
    first_told_us: int
    is_withdrawn: bool = False


def named(
    contract: str, objective: str, groups: Sequence[Group], known: Iterable[Known]
) -> list[tuple[str, Group]]:
    """Return each group, in time order, with its name."""
    left = sorted(known, key=lambda each: (each.is_withdrawn, each.first_told_us, each.start_us, each.id))
    taken: set[str] = set()
    found: list[tuple[str, Group]] = []
    for group in sorted(groups, key=lambda each: each.start_us):
        inherited = next(
            (
                each.id
                for each in left
                if each.id not in taken and each.start_us < group.end_us and group.start_us < each.end_us
            ),
            None,
        )
        name = inherited or _new(contract, objective, group, taken | {each.id for each in left})
        taken.add(name)
        found.append((name, group))
    return found


def _new(contract: str, objective: str, group: Group, others: set[str]) -> str:
    """Return a name that no other has: the first bad minute's, unless that minute has lent its name before."""
    for minute in group.minutes:
        name = incident_id(contract, objective, from_us(minute.start_us))
        if name not in others:
            return name
    return incident_id(contract, f"{objective}\n{len(others)}", from_us(group.start_us))
