"""Own how text that others wrote is put into messages: as text, whatever a service takes for markup or a mention."""

from __future__ import annotations

import re

from fairclock.documents.text import printable, shortened

_LONGEST_VALUE = 300
_LONGEST_READ = 2_000
_HALF_ENTITY = re.compile(r"&[a-z]{0,4}$")
_WIDE = str.maketrans({"@": "＠", "<": "＜", ">": "＞"})
_SLACK = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def plain(value: object) -> str:
    """Return a value as one printable line of bounded length."""
    return shortened(printable(str(value)[:_LONGEST_READ]), _LONGEST_VALUE)


def for_slack(value: object) -> str:
    """Return a value for Slack: the three characters that begin its markup are entities."""
    return plain(value).translate(_SLACK)


def without_mentions(value: object) -> str:
    """Return a value for the chats that look for ``@all`` and ``<at …>``: with signs of full width in their place."""
    return plain(value).translate(_WIDE)


def cut(text: str, most_characters: int) -> str:
    """Return `text` with at most so many characters; no entity is cut in two."""
    if len(text) <= most_characters:
        return text
    return _HALF_ENTITY.sub("", text[: most_characters - 1]).rstrip() + "…"


def cut_bytes(text: str, most_bytes: int) -> str:
    """Return `text` with at most so many bytes of UTF-8; no character is cut in two."""
    raw = text.encode()
    if len(raw) <= most_bytes:
        return text
    return raw[: most_bytes - len("…".encode())].decode(errors="ignore").rstrip() + "…"
