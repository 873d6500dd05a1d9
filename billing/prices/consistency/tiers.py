"""Own that steps climb from 0, say one thing each, and that no unit falls under two rules of a kind."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from billing.prices.clauses import kinds_of
from billing.prices.consistency.tree import entries, text, texts, versions
from fairclock.clauses.problems import Problem
from fairclock.clauses.quantities import QuantityError, read_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from billing.prices.consistency.tree import Mapping
    from fairclock.clauses.problems import Path
    from fairclock.clauses.source import Tree

_WITHOUT_PRICE = {
    "tokens": "its classes have prices of their own",
    "requests": "models have weights",
}


def steps_climb(tree: Tree) -> Iterator[Problem]:
    """Yield a problem for each step that does not begin above the one before, or does not say what holds."""
    for path, version in versions(tree):
        for at, tier in entries(version, "tiers", path):
            steps = list(entries(tier, "steps", at))
            yield from _beginnings(steps)
            for place, step in steps:
                yield from _says_one_thing(place, step, text(tier.get("of")))


def volumes_do_not_overlap(tree: Tree) -> Iterator[Problem]:
    """Yield a problem for each rule that counts what another of its kind counts too."""
    for path, version in versions(tree):
        for key in ("included", "tiers"):
            rules = list(entries(version, key, path))
            for number, (at, rule) in enumerate(rules):
                other = next((before for before, earlier in rules[:number] if _overlap(earlier, rule)), None)
                if other is not None:
                    yield Problem(
                        path=at,
                        problem=f"counts what {key}[{other[-1]}] counts already",
                        remedy="give each its own models or classes of tokens",
                    )


def _beginnings(steps: list[tuple[Path, Mapping]]) -> Iterator[Problem]:
    starts = [(place, _count(step.get("from"))) for place, step in steps]
    if starts and starts[0][1]:
        yield Problem(
            path=(*starts[0][0], "from"),
            problem="is not where volumes begin",
            found=str(starts[0][1]),
            remedy="begin with from: 0, at a discount of 0% if nothing changes there",
        )
    for (_, before), (place, after) in pairwise(starts):
        if before is not None and after is not None and after <= before:
            yield Problem(
                path=(*place, "from"),
                problem="does not begin above the step before it",
                found=f"{after} after {before}",
                remedy="keep the steps in rising order",
            )


def _says_one_thing(place: Path, step: Mapping, volume: str | None) -> Iterator[Problem]:
    if ("price" in step) == ("discount" in step):
        yield Problem(
            path=place,
            problem="says both a price and a discount"
            if "price" in step
            else "says neither price nor discount",
            remedy="write one of them: price: 6.00 or discount: 10%",
        )
    elif "price" in step and volume in _WITHOUT_PRICE:
        yield Problem(
            path=(*place, "price"),
            problem=f"cannot be the price of {volume}",
            found=_WITHOUT_PRICE[volume],
            remedy="write a discount",
        )


def _overlap(first: Mapping, second: Mapping) -> bool:
    kinds = [_kinds(text(each.get("of"))) for each in (first, second)]
    models = [texts(each.get("models")) for each in (first, second)]
    alike = models[0] is None or models[1] is None or bool(set(models[0]) & set(models[1]))
    return alike and bool(kinds[0] & kinds[1])


def _kinds(volume: str | None) -> set[str]:
    try:
        return {str(kind) for kind in kinds_of(volume or "")}
    except ValueError:
        return set()


def _count(value: Tree) -> int | None:
    try:
        return read_count(value) if isinstance(value, str) else None
    except QuantityError:
        return None
