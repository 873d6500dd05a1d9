"""Own what an operator gives as nginx's log_format: the bare text, or the directive as it stands in nginx.conf."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from fairclock.errors import ConfigurationError

WHERE = "gateway.log_format"
Escape: TypeAlias = Literal["default", "json", "none"]

COMBINED = '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"'
_ESCAPES = ("default", "json", "none")
_TOKEN = re.compile(
    r"""\s*(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'|(?P<bare>[^\s;"']+)|(?P<end>;))""",
    re.DOTALL,
)
_BACKSLASHED = re.compile(r"\\(.)", re.DOTALL)
_MEANINGS = {"t": "\t", "r": "\r", "n": "\n", '"': '"', "'": "'", "\\": "\\"}
_DIRECTIVE = re.compile(r"\s*(?:log_format\s|escape=|'.*'\s*;?\s*\Z)", re.DOTALL)
_PART = re.compile(r"\$(?:\{(?P<braced>[A-Za-z0-9_]+)\}|(?P<plain>[A-Za-z0-9_]+))|(?P<text>[^$]+|\$)")


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the log_format, without its ``$``."""

    name: str


Part: TypeAlias = str | Variable


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFormat:
    """A log_format: literal texts and variables in turn, and how nginx escapes values."""

    escape: Escape
    parts: tuple[Part, ...]


def parse_log_format(text: str) -> LogFormat:
    """Read the bare format, or ``log_format name escape=json '…' '…';``; raises `ConfigurationError`."""
    escape, bare = _from_directive(text) if _DIRECTIVE.match(text) else ("default", text.strip())
    if bare == "combined":
        bare = COMBINED
    if not bare:
        raise ConfigurationError(WHERE, "is empty", remedy="give the text of nginx's log_format")
    if escape not in _ESCAPES:
        raise ConfigurationError(
            WHERE, "nginx knows no such escape", found=escape, remedy="write escape=default, json or none"
        )
    return LogFormat(escape=cast("Escape", escape), parts=_parts(bare))


def _from_directive(text: str) -> tuple[str, str]:
    tokens: list[tuple[str, bool]] = []
    position = 0
    stripped = text.rstrip()
    while position < len(stripped):
        found = _TOKEN.match(stripped, position)
        if found is None:
            raise ConfigurationError(
                WHERE, "a quote is not closed", remedy="give the directive as it stands in nginx.conf"
            )
        position = found.end()
        if found["end"]:
            break
        quoted = found["double"] if found["double"] is not None else found["single"]
        tokens.append(
            (found["bare"], False) if quoted is None else (_BACKSLASHED.sub(_unescaped, quoted), True)
        )
    words = [word for word, is_quoted in tokens if not is_quoted]
    if words[:1] == ["log_format"]:
        del tokens[: 2 if len(tokens) > 1 else 1]
    escape = "default"
    if tokens and not tokens[0][1] and tokens[0][0].startswith("escape="):
        escape = tokens.pop(0)[0].removeprefix("escape=")
    return escape, "".join(word for word, _ in tokens)


def _unescaped(found: re.Match[str]) -> str:
    return _MEANINGS.get(found[1], found[0])


def _parts(text: str) -> tuple[Part, ...]:
    parts: list[Part] = []
    for found in _PART.finditer(text):
        name = found["braced"] or found["plain"]
        if name:
            parts.append(Variable(name))
        elif parts and isinstance(parts[-1], str):
            parts[-1] += found["text"]
        else:
            parts.append(found["text"])
    return tuple(parts)
