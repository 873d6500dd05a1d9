"""Own how clauses are found in a tree that may be malformed anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.clauses.problems import Path
    from fairclock.clauses.source import Tree

Mapping: TypeAlias = "dict[str, Tree]"


def mapping(tree: Tree, *keys: str) -> Mapping:
    """Return the mapping below some keys; an empty one where there is none."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else {}


def entries(tree: Tree, key: str, path: Path = ()) -> Iterator[tuple[Path, Mapping]]:
    """Yield the mappings in the list at `key`, each with its path."""
    listed = tree.get(key) if isinstance(tree, dict) else None
    for number, each in enumerate(listed if isinstance(listed, tuple) else ()):
        if isinstance(each, dict):
            yield (*path, key, number), each


def versions(tree: Tree) -> Iterator[tuple[Path, Mapping]]:
    """Yield the versions, each with its path."""
    return entries(tree, "versions")


def text(tree: Tree) -> str | None:
    """Return a text; None for all else."""
    return tree if isinstance(tree, str) else None


def texts(tree: Tree) -> tuple[str, ...] | None:
    """Return the texts of a list, or the one text; None where nothing is given."""
    if isinstance(tree, str):
        return (tree,)
    return tuple(each for each in tree if isinstance(each, str)) if isinstance(tree, tuple) else None
