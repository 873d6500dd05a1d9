"""Own how a log_format becomes a parser: one regular expression that can match a line in one way only.

A line is cut into regions by what no value can hold: the line's ends and, where nginx escapes values, quotes and
control characters. Within a region one value may be free, since all around it is read from both ends; two free
values in one region could be cut anywhere, and a client would choose where. Such a format is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from collectors.gateway.formats.nginx_directive import WHERE, Variable
from collectors.gateway.formats.nginx_variables import Shape, shape_of
from fairclock.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from collectors.gateway.formats.nginx_directive import Escape, LogFormat, Part

_NUMBER = r"[-+.0-9]*"
_ADDRESS = r"(?:unix:[^\s\"]*|[-0-9A-Fa-f.:]*)"
_ELEMENT = r"[^\s,\"]+"
_LIST = rf"(?:{_ELEMENT}(?:(?:, ?| : ){_ELEMENT})*)?"
_LOCAL_TIME = r"\d\d/[A-Z][a-z][a-z]/\d{4}:\d\d:\d\d:\d\d [-+]\d{4}"
_FREE: dict[Escape, str] = {
    "default": r"[^\"\x00-\x1f]*",
    "json": r"[^\"\\\x00-\x1f]*(?:\\.[^\"\\\x00-\x1f]*)*",
    "none": r".*",
}
_UNFORGEABLE = re.compile(r"[\"\x00-\x1f]")
_NUMBER_TAKES = frozenset("0123456789.+-")
_HEX_TAKES = frozenset("0123456789abcdefABCDEF.")


def compiled(log_format: LogFormat) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """Return the expression and the variable of each of its groups; raises `ConfigurationError` where it is ambiguous."""
    parts = log_format.parts
    _check(log_format)
    names: list[str] = []
    pieces: list[str] = []
    for at, part in enumerate(parts):
        if isinstance(part, str):
            pieces.append(re.escape(part))
            continue
        after = parts[at + 1] if at + 1 < len(parts) else ""
        next_character = after[0] if isinstance(after, str) and after else ""
        names.append(part.name)
        pieces.append(f"({_pattern(shape_of(part.name), next_character, log_format.escape)})")
    return re.compile("".join(pieces), re.ASCII | re.DOTALL), tuple(names)


def _pattern(shape: Shape, next_character: str, escape: Escape) -> str:
    if shape is Shape.TOKEN:
        excluded = re.escape(next_character) if not next_character.isspace() else ""
        return rf"[^\s\"{excluded}]*"
    fixed = {
        Shape.NUMBER: _NUMBER,
        Shape.ADDRESS: _ADDRESS,
        Shape.LIST: _LIST,
        Shape.LOCAL_TIME: _LOCAL_TIME,
    }
    return fixed.get(shape, _FREE[escape])


def _check(log_format: LogFormat) -> None:
    for one, other in zip(log_format.parts, log_format.parts[1:], strict=False):
        if isinstance(one, Variable) and isinstance(other, Variable):
            raise ConfigurationError(
                WHERE,
                f"${one.name} and ${other.name} stand side by side, so that nothing tells where the first one ends",
                remedy="write a space or a quote between them",
            )
        if isinstance(one, Variable) and isinstance(other, str):
            _check_end(one, other)
    for region in _regions(log_format.parts, log_format.escape):
        free = [name for name in region if shape_of(name) is Shape.FREE]
        if len(free) > 1:
            quotes = 'put each into double quotes: "' + f'${free[0]}" "${free[1]}"'
            raise ConfigurationError(
                WHERE,
                "is ambiguous: what a client sends can hold anything, and nothing that it cannot hold stands between "
                + " and ".join(f"${name}" for name in free[:2]),
                remedy="use escape=default or json, and " + quotes if log_format.escape == "none" else quotes,
            )


def _check_end(variable: Variable, text: str) -> None:
    """Refuse a value that can go on with what is to end it."""
    shape = shape_of(variable.name)
    is_ambiguous = (
        (shape is Shape.NUMBER and text[0] in _NUMBER_TAKES)
        or (shape is Shape.ADDRESS and text[0] in _HEX_TAKES)
        or (shape is Shape.LIST and (text[0] not in ' "\t]})|;' or text.startswith((" : ", " :"))))
        or (shape is Shape.TOKEN and text[0].isalnum())
    )
    if is_ambiguous:
        raise ConfigurationError(
            WHERE,
            f"is ambiguous: the value of ${variable.name} can itself hold the {text[0]!r} that follows it",
            remedy="write a space or a quote after it",
        )


def _regions(parts: Sequence[Part], escape: Escape) -> Iterator[list[str]]:
    region: list[str] = []
    for part in parts:
        if isinstance(part, Variable):
            region.append(part.name)
        elif escape != "none" and _UNFORGEABLE.search(part):
            yield region
            region = []
    yield region
