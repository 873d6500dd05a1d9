"""Own the exchange of instants and microseconds since 1970, the form in which the store keeps and compares them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_us(instant: datetime) -> int:
    """Return an aware instant as microseconds since 1970, exactly; ValueError for a naive one."""
    if instant.tzinfo is None:
        raise ValueError(f"an instant needs a zone: {instant!r}")
    return (instant - EPOCH) // _MICROSECOND


def from_us(microseconds: int) -> datetime:
    """Return the instant (UTC) of microseconds since 1970."""
    return EPOCH + microseconds * _MICROSECOND


def utc_text(instant: datetime) -> str:
    """Return an instant in UTC as ISO 8601 writes it, with microseconds only where it has some."""
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
