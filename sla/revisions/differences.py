"""Own what differs between two evaluations of one month, figure by figure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sla.revisions.figures import OF_OBJECTIVES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sla.revisions.figures import Figures

    _Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One figure before and after; None where it was not there. `objective` and `part` say whose, if one's."""

    what: str
    before: Any
    after: Any
    objective: str | None = None
    part: Mapping[str, str] | None = None


def differences(before: Figures, after: Figures) -> list[Difference]:
    """Return what differs, in the order of a report: rows and versions, objectives, exclusions, money."""
    return [
        *_month(before, after),
        *_objectives(before["objectives"], after["objectives"]),
        *_exclusions(before["exclusions"], after["exclusions"]),
        # what was kept before money was compared says nothing of it
        *(_money(before["money"], after["money"]) if "money" in before and "money" in after else ()),
    ]


def _month(before: Figures, after: Figures) -> Iterator[Difference]:
    pairs = {"admitted": (before["admitted"], after["admitted"])}
    for name in sorted({*before["coverage"], *after["coverage"]}):
        pairs[f"coverage.{name}"] = (before["coverage"].get(name), after["coverage"].get(name))
    pairs["rows_sha256"] = (before["rows_sha256"], after["rows_sha256"])
    pairs["versions"] = (before["versions"], after["versions"])
    for what, (one, other) in pairs.items():
        if one != other:
            yield Difference(what=what, before=one, after=other)


def _objectives(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> Iterator[Difference]:
    old, new = _keyed(before), _keyed(after)
    for key in [*new, *(each for each in old if each not in new)]:
        one, other = old.get(key), new.get(key)
        said = other or one or {}
        for what in OF_OBJECTIVES:
            values = [None if each is None else each[what] for each in (one, other)]
            if values[0] != values[1]:
                yield Difference(
                    what=what, before=values[0], after=values[1], objective=said["name"], part=said["part"]
                )


def _keyed(rows: Sequence[Mapping[str, Any]]) -> dict[_Key, Mapping[str, Any]]:
    """Return the rows by name, part, and which of several versions' it is."""
    seen: Counter[tuple[str, str]] = Counter()
    found: dict[_Key, Mapping[str, Any]] = {}
    for row in rows:
        name, part = row["name"], repr(sorted((row["part"] or {}).items()))
        found[name, part, seen[name, part]] = row
        seen[name, part] += 1
    return found


def _exclusions(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
    for id_ in sorted({*before, *after}):
        one, other = before.get(id_), after.get(id_)
        if one != other:
            yield Difference(
                what="exclusion",
                before=None if one is None else {"id": id_, **one},
                after=None if other is None else {"id": id_, **other},
            )


def _money(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
    for name in sorted({*before, *after}):
        one, other = before.get(name), after.get(name)
        if one == other:
            continue
        if name.startswith("credit."):
            whose = str((other or one or {})["objective"])
            yield Difference(what="credit", before=one, after=other, objective=whose)
        else:
            yield Difference(what=name, before=one, after=other)
