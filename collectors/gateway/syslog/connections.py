"""Own how the bytes of a syslog connection become messages: octet counting and newline framing (RFC 6587).

A sender may mix the two: a message that begins with a count is counted, any other ends with its line.
"""

from __future__ import annotations

import re

LONGEST_MESSAGE_BYTES = (1 << 20) + 8192
"""Longer ones are cut: no header and line of a gateway is near that."""
_COUNT = re.compile(rb"([1-9]\d{0,8}) (?=<)")
_COUNT_BEGINS = re.compile(rb"[1-9]\d{0,8}(?: ?$)")
_END = re.compile(rb"[\n\0]")


class MessageSplitter:
    """Cut the bytes of one connection into messages."""

    def __init__(self, longest_message_bytes: int = LONGEST_MESSAGE_BYTES) -> None:
        self._longest = longest_message_bytes
        self._held = b""
        self._skip_bytes = 0
        self._skip_line = False

    def feed(self, data: bytes) -> list[bytes]:
        """Return the messages that `data` completes."""
        held = self._held + data
        messages: list[bytes] = []
        at = 0
        while at < len(held):
            found = self._next(held, at)
            if found is None:
                break
            message, at = found
            if message:
                messages.append(message)
        self._held = held[at:]
        return messages

    def finish(self) -> list[bytes]:
        """Return the last message of a connection that was closed, where its length was not announced."""
        rest, self._held = self._held, b""
        is_line = bool(rest) and not self._skip_line and not self._skip_bytes and not _COUNT.match(rest)
        return [rest] if is_line else []

    def _next(self, held: bytes, at: int) -> tuple[bytes, int] | None:
        """Return the message at `at`, empty where there is nothing to keep, and what follows; None: not all here."""
        if self._skip_bytes:
            skipped = min(self._skip_bytes, len(held) - at)
            self._skip_bytes -= skipped
            return b"", at + skipped
        count = None if self._skip_line else _COUNT.match(held, at)
        if count is not None:
            return self._counted(held, count.end(), int(count[1]))
        if not self._skip_line and _COUNT_BEGINS.match(held, at):
            return None
        return self._line(held, at)

    def _counted(self, held: bytes, begin: int, length: int) -> tuple[bytes, int] | None:
        kept = min(length, self._longest)
        if len(held) - begin < kept:
            return None
        self._skip_bytes = length - kept
        return held[begin : begin + kept], begin + kept

    def _line(self, held: bytes, at: int) -> tuple[bytes, int] | None:
        end = _END.search(held, at)
        if end is not None:
            was_skipping, self._skip_line = self._skip_line, False
            return b"" if was_skipping else held[at : end.start()], end.end()
        if self._skip_line:
            return b"", len(held)
        if len(held) - at > self._longest:
            self._skip_line = True
            return held[at : at + self._longest], at + self._longest
        return None
