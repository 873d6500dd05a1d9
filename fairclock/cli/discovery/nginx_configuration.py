"""Own how an nginx configuration is read: its directives, with the files it includes in their places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.cli.discovery.machine import Machine

_TOKEN = re.compile(
    r"""\s+|\#[^\n]*|([;{}])|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|((?:[^\s;{}"'\\]|\\.)+)"""
)
_DEEPEST = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Directive:
    """A name and its words; `opens` says that a block follows."""

    name: str
    words: tuple[str, ...]
    opens: bool = False


@dataclass(slots=True, kw_only=True)
class Reading:
    """A configuration as it is read; `unreadable` are the files that could not be."""

    machine: Machine
    prefix: str
    unreadable: list[str]

    def directives(self, path: str, *, depth: int = 0) -> Iterator[Directive]:
        """Yield the directives of a file and of what it includes, in their order."""
        text = self.machine.text(path)
        if text is None or depth > _DEEPEST:
            self.unreadable.append(path)
            return
        for directive in _directives(text):
            if directive.name == "include" and len(directive.words) == 1:
                for included in self._included(directive.words[0]):
                    yield from self.directives(included, depth=depth + 1)
            else:
                yield directive

    def _included(self, pattern: str) -> list[str]:
        absolute = str(PurePosixPath(self.prefix) / pattern)
        if not any(sign in absolute for sign in "*?["):
            return [absolute]
        root = self.machine.path("/")
        return [f"/{path.relative_to(root)}" for path in sorted(root.glob(absolute.lstrip("/")))]


def _directives(text: str) -> Iterator[Directive]:
    words: list[str] = []
    for match in _TOKEN.finditer(text):
        sign, double, single, plain = match.groups()
        if sign is None:
            word = next((each for each in (double, single, plain) if each is not None), None)
            if word is not None:
                words.append(word)
            continue
        if words:
            yield Directive(name=words[0], words=tuple(words[1:]), opens=sign == "{")
        words = []
