"""Own what is suggested in place of a word that is not known."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_ALIKE = 0.6


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that `word` was most likely meant to be; None if it is like none."""
    by_folded = {each.lower(): each for each in sorted(known)}
    near = difflib.get_close_matches(word.lower(), by_folded, n=1, cutoff=_ALIKE)
    if near:
        return by_folded[near[0]]
    beginnings = [each for folded, each in by_folded.items() if folded.startswith(word.lower()) and word]
    return beginnings[0] if len(beginnings) == 1 else None


def one_of(word: str, known: Iterable[str]) -> str:
    """Return the remedy for a word that is none of `known`."""
    words = list(known)
    near = closest(word, words)
    return f"did you mean {near}?" if near else f"write {listed(words)}"


def listed(words: Iterable[str], conjunction: str = "or") -> str:
    """Join words as a person does: ``a, b or c``."""
    *head, last = words
    return f"{', '.join(head)} {conjunction} {last}" if head else last
