"""Own that names are told apart, and that every model's tokens have a price."""

from __future__ import annotations

from typing import TYPE_CHECKING

from billing.prices.consistency.tree import entries, mapping, text, texts, versions
from billing.prices.examples import example_for
from fairclock.clauses.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.clauses.problems import Path
    from fairclock.clauses.source import Tree


def names_are_told_apart(tree: Tree) -> Iterator[Problem]:
    """Yield a problem for each name that stands twice where only one can be meant."""
    yield from _twice(((*path, "name"), text(version.get("name"))) for path, version in versions(tree))
    for path, version in versions(tree):
        yield from _twice(
            ((*at, "name"), text(each.get("name"))) for at, each in entries(version, "models", path)
        )
        yield from _twice((at, _machine(each)) for at, each in entries(version, "machines", path))
    yield from _twice(
        ((*at, "tenants"), tenant)
        for at, each in entries(tree, "customers")
        for tenant in texts(each.get("tenants")) or ()
    )
    yield from _twice(
        ((*at, "length_class"), text(each.get("length_class"))) for at, each in entries(tree, "ceilings")
    )
    rates = list(entries(tree, "exchange_rates"))
    own = text(mapping(tree, "currency").get("code"))
    yield from _twice((at, _rate(each)) for at, each in rates)
    for at, each in rates:
        if own is not None and each.get("to") == own:
            yield Problem(
                path=(*at, "to"),
                problem="is the book's own currency",
                found=f'"{own}"',
                remedy="name another currency, or take the rate away",
            )


def tokens_have_prices(tree: Tree) -> Iterator[Problem]:
    """Yield a problem for each model without token prices of its own in a version that has none either."""
    for path, version in versions(tree):
        if "tokens" in version:
            continue
        models = list(entries(version, "models", path))
        if isinstance(version.get("other_models"), dict):
            models.append(((*path, "other_models"), mapping(version, "other_models")))
        for at, model in models:
            if "tokens" not in model:
                remedy = f"write {example_for((*at, 'tokens')) or example_for((*path, 'tokens'))}, here or for the version"
                yield Problem(
                    path=(*at, "tokens"),
                    problem="is missing, and the version has no tokens either",
                    remedy=remedy,
                )


def _machine(each: dict[str, Tree]) -> str | None:
    gpu, mig = text(each.get("gpu")), text(each.get("mig"))
    return gpu if mig is None else f"{gpu} MIG {mig}"


def _rate(each: dict[str, Tree]) -> str | None:
    to, day = text(each.get("to")), text(each.get("on"))
    return None if to is None or day is None else f"{to} on {day}"


def _twice(named: Iterator[tuple[Path, str | None]]) -> Iterator[Problem]:
    seen: set[str] = set()
    for path, name in named:
        if name is not None and name in seen:
            yield Problem(path=path, problem="is there twice", found=f'"{name}"', remedy="keep one of them")
        seen |= {name} if name is not None else set()
