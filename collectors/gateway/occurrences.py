"""Own k: how often exactly the same line came before in one file.

Equal lines of one file are several requests; the same file read twice is not. Only a line that can be an
event is counted: blank lines and lines without a time are no requests however often they come.

Memory: about 80 bytes a line of the file (a 64-bit hash in a set), given back when the file is done.
Two different lines of one file of 15 million share a hash with a probability of 6 in a million.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collectors.gateway.formats import GatewayFormat

LARGEST_K = 65_535
_NEEDED = b'"time"'
_TOO_OFTEN = b"[repeated more than 65,535 times] "
_EXCERPT_BYTES = 1000


def repeated_too_often(line: bytes) -> bytes:
    """Return what becomes of a line that k cannot number: an excerpt that no parser takes for an event."""
    return _TOO_OFTEN + line[:_EXCERPT_BYTES]


def is_repeated_too_often(line: bytes) -> bool:
    """Return whether `line` is what became of one that k cannot number."""
    return line.startswith(_TOO_OFTEN)


class Occurrences:
    """Count the lines of one file, batch by batch; it is nginx JSON unless `form` says otherwise."""

    def __init__(self, form: GatewayFormat | None = None) -> None:
        self._form = None if form is None or form.passes_through else form
        self._seen: set[int] = set()
        self._latest_k: dict[int, int] = {}

    def split(self, lines: list[bytes]) -> tuple[list[bytes], dict[int, list[bytes]]]:
        """Return the lines seen for the first time, and the others by their k >= 1."""
        hashes = list(map(hash, lines))
        fresh = set(hashes)
        if len(fresh) == len(lines) and fresh.isdisjoint(self._seen):
            self._seen |= fresh
            return lines, {}
        first: list[bytes] = []
        again: dict[int, list[bytes]] = {}
        for line, key in zip(lines, hashes, strict=True):
            if key not in self._seen:
                self._seen.add(key)
                first.append(line)
            elif not self._is_an_event(line):
                first.append(line)
            else:
                k = self._latest_k.get(key, 0) + 1
                if k > LARGEST_K:
                    first.append(repeated_too_often(line))
                    continue
                self._latest_k[key] = k
                again.setdefault(k, []).append(line)
        return first, again

    def _is_an_event(self, line: bytes) -> bool:
        return _NEEDED in line if self._form is None else self._form.ended_us(line) is not None
