"""Own how a tree that may be malformed anywhere is looked into."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from fairclock.clauses.quantities import QuantityError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairclock.clauses.problems import Path
    from fairclock.clauses.source import Tree

T = TypeVar("T")


def at(tree: Tree, *path: str | int) -> Tree:
    """Return what stands at `path`; None where there is nothing."""
    for step in path:
        if isinstance(step, str) and isinstance(tree, dict):
            tree = tree.get(step)
        elif isinstance(step, int) and isinstance(tree, tuple) and step < len(tree):
            tree = tree[step]
        else:
            return None
    return tree


def mapping_at(tree: Tree, *path: str | int) -> dict[str, Tree]:
    """Return the mapping at `path`; an empty one where there is none."""
    value = at(tree, *path)
    return value if isinstance(value, dict) else {}


def items_at(tree: Tree, *path: str | int) -> Iterator[tuple[Path, dict[str, Tree]]]:
    """Yield path and mapping of each entry of the list at `path`; entries that are no mappings are left out."""
    value = at(tree, *path)
    for number, entry in enumerate(value if isinstance(value, tuple) else ()):
        if isinstance(entry, dict):
            yield (*path, number), entry


def text_at(tree: Tree, *path: str | int) -> str | None:
    """Return the text at `path`; None where there is none."""
    value = at(tree, *path)
    return value if isinstance(value, str) else None


def texts_at(tree: Tree, *path: str | int) -> list[str]:
    """Return the texts of the list at `path`; a text alone is a list of one."""
    value = at(tree, *path)
    if isinstance(value, str):
        return [value]
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, tuple) else []


def quantity_at(read: Callable[[str], T], tree: Tree, *path: str | int) -> T | None:
    """Return the quantity at `path`; None where there is none that can be read."""
    text = text_at(tree, *path)
    if text is None:
        return None
    try:
        return read(text)
    except QuantityError:
        return None
