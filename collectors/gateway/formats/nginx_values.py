"""Own how nginx writes values, and how they are read back: escape=default, json and none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collectors.gateway.formats.nginx_directive import Escape

_DEFAULT = re.compile(rb"\\x([0-9A-Fa-f]{2})")
_JSON = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|([bfnrt"\\/]))')
_MEANINGS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def unescaped(text: str, escape: Escape) -> str:
    """Return what was in the variable; nginx's ``-`` for nothing stays."""
    if escape == "none" or "\\" not in text:
        return text
    if escape == "json":
        return _JSON.sub(_json_character, text)
    raw = text.encode("utf-8", "surrogateescape")
    return _DEFAULT.sub(lambda found: bytes.fromhex(found[1].decode()), raw).decode("utf-8", "replace")


def _json_character(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    return _MEANINGS.get(found[2], found[2])
