"""Own the section ``spool`` of the configuration."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from exporters.spool.spool import DEFAULT_SEGMENT_BYTES
from fairclock.config import ByteCount, FilePath, Section, refuse

DEFAULT_LIMIT_BYTES = 2 << 30
_LEAST_BYTES = 2 * DEFAULT_SEGMENT_BYTES


def _has_room(limit_bytes: int) -> int:
    if limit_bytes < _LEAST_BYTES:
        raise refuse("has no room for two segments", f"write {_LEAST_BYTES >> 20} MiB or more")
    return limit_bytes


class SpoolSection(Section):
    """What is collected and not delivered yet."""

    directory: FilePath | None = Field(default=None, examples=["/var/lib/fairclock/spool"])
    """Its folder (default: in the store's folder, else in the user's data directory)."""

    limit: Annotated[ByteCount, AfterValidator(_has_room)] = DEFAULT_LIMIT_BYTES
    """How much it may take on the disk; when it is full, senders are told to wait and tails pause."""
