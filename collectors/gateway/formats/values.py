"""Own what several formats' readers share: JSON objects, request lines, paths without their arguments, lists of tries."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from collectors.gateway.formats.format import UnreadableLine
from collectors.gateway.formats.times import duration_text

MILLISECONDS = 1_000
MICROSECONDS = 1
SECONDS = 1_000_000
_NOT_AN_OBJECT = "not a JSON object"
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")
_METHOD = re.compile(r"[A-Za-z_-]{1,32}")


def text_of(line: bytes) -> str:
    """Return `line` as text; bytes that are no UTF-8 become U+FFFD."""
    return line.decode("utf-8", "replace")


def json_object(line: bytes) -> dict[str, Any]:
    """Return the JSON object that `line` is; fractions stay the text that was written.

    Raises `UnreadableLine`.
    """
    try:
        found = json.loads(text_of(line), parse_float=str, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise UnreadableLine(_NOT_AN_OBJECT) from error
    if not isinstance(found, dict):
        raise UnreadableLine(_NOT_AN_OBJECT)
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def plain(value: object) -> str:
    """Return a JSON scalar as text; null, arrays and objects are absent."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return ""


def is_absent(text: str) -> bool:
    """Return whether a field says nothing."""
    return text in {"", "-"}


def seconds_in(text: str, *, unit_us: int, field: str) -> str:
    """Return the duration in `field` as seconds; raises `UnreadableLine` where it is absent or no number."""
    if is_absent(text):
        raise UnreadableLine(f"{field}: absent")
    found = duration_text(text, unit_us=unit_us)
    if found is None:
        raise UnreadableLine(f"{field}: not a duration")
    return found


def seconds_or_nothing(text: str, *, unit_us: int) -> str:
    """Return a duration that may be missing as seconds; absent, no number or negative (-1): an empty text."""
    found = None if is_absent(text) else duration_text(text, unit_us=unit_us)
    return "" if found is None or found.startswith("-") else found


def path_of(target: str) -> str:
    """Return the path of a request's target, whatever its form; never its arguments."""
    if not target.startswith("/"):
        origin = _ORIGIN.match(target)
        target = target[origin.end() :] if origin else target
    return target.partition("?")[0].partition("#")[0]


def request_line(text: str) -> tuple[str, str]:
    """Return (method, path) of ``GET /path?arguments HTTP/1.1``; both empty where it is none."""
    method, _, rest = text.partition(" ")
    target, version, _ = rest.rpartition(" HTTP/")
    if not version:
        target = rest
    if not target or not _METHOD.fullmatch(method):
        return "", ""
    return method, path_of(target)


def bearer_key(authorization: str) -> str:
    """Return the API key in an Authorization header, or an empty text."""
    scheme, _, key = authorization.strip().partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""
