"""Own the rows that the engine will not take in any form: kept as dead letters without its help."""

from __future__ import annotations

import hashlib
from string import digits, punctuation
from typing import TYPE_CHECKING

from fairclock.model import from_us
from fairclock.store.batches import FIRST_WINS_BASE, write_stamp

if TYPE_CHECKING:
    from fairclock.store.batches import LineBatch
    from fairclock.store.connection import Connection

_EXCERPT_BYTES = 4_096
_COLUMNS = ("stored_at", "kind", "source", "reason", "excerpt", "content_hash", "k", "first_wins")


def keep_dead_letters(connection: Connection, batch: LineBatch, *, reason: str) -> None:
    """Keep the shape of each line with `reason`; doing it again adds nothing."""
    with write_stamp(connection) as stamp:
        stored_at = from_us(stamp)
        rows = [
            (
                stored_at, batch.kind, batch.source, reason, redacted(line), _hash(line), batch.k,
                FIRST_WINS_BASE - stamp,
            )
            for line in batch.lines
        ]  # fmt: skip
        connection.insert("dead_letters", _COLUMNS, rows)


def redacted(line: bytes) -> str:
    """Return the shape of the first 4 KiB: letters become x, digits 0, so no text is kept."""
    text = line[:_EXCERPT_BYTES].decode("utf-8", "replace")
    return "".join(
        "0" if each in digits else each if each in punctuation or each == " " else "x" for each in text
    )


def _hash(line: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(line, digest_size=16).digest())
