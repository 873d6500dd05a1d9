"""Own the reading of scripts: text to statements, each with the line on which it stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEYWORDS = (
    "contract",
    "instead",
    "version",
    "covers",
    "load",
    "again",
    "probe",
    "engine",
    "exclude",
    "accept",
    "dispute",
    "revoke",
    "remember",
    "seal",
    "lint",
    "evaluate",
    "expect",
)
_WITH_BLOCK = ("contract", "instead", "version")
_COMMENT = re.compile(r"(?:^|\s{2,})#.*$")


class ScriptError(Exception):
    """Something in a script that cannot be read or done; names file and line."""

    def __init__(self, path: Path, line: int, problem: str) -> None:
        """Say where and what."""
        super().__init__(f"{path}:{line}: {problem}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement: its first word, what follows on the line and on indented ones, and the block below it."""

    line: int
    keyword: str
    words: str
    block: str = ""

    @property
    def head(self) -> str:
        """Return what stands before the first colon that ends a word."""
        return self._parts()[0]

    @property
    def facts(self) -> list[str]:
        """Return what stands after it, separated by commas."""
        return [fact for each in self._parts()[1].split(",") if (fact := each.strip())]

    def _parts(self) -> tuple[str, str]:
        head, _, tail = f"{self.words} ".partition(": ")
        return head.strip(), tail.strip()


def read_script(path: Path, text: str) -> list[Statement]:
    """Return the statements of a script; raises ScriptError."""
    statements = [_statement(path, number, lines) for number, lines in _groups(path, text)]
    if not any(each.keyword == "expect" for each in statements):
        raise ScriptError(path, 1, "expects nothing, so it cannot fail; add an expect")
    return statements


def _groups(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each statement's first line number and its lines, comments and empty lines taken away."""
    found: tuple[int, list[str]] | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = _COMMENT.sub("", raw).rstrip()
        if not line:
            continue
        if line.startswith("\t"):
            raise ScriptError(path, number, "is indented by a tab; use spaces")
        if line.startswith(" "):
            if found is None:
                raise ScriptError(path, number, "is indented and belongs to no statement")
            found[1].append(line)
            continue
        if found is not None:
            yield found
        found = (number, [line])
    if found is not None:
        yield found


def _statement(path: Path, number: int, lines: list[str]) -> Statement:
    keyword, _, rest = lines[0].partition(" ")
    if keyword not in KEYWORDS:
        raise ScriptError(path, number, f"is no statement ({keyword}); write one of {', '.join(KEYWORDS)}")
    if keyword in _WITH_BLOCK:
        return Statement(line=number, keyword=keyword, words=rest.strip(), block="\n".join(lines[1:]))
    words = " ".join([rest, *lines[1:]])
    return Statement(line=number, keyword=keyword, words=" ".join(words.split()))
