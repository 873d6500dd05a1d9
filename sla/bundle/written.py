"""Own how values become the bundle's text files: one form, so that the same content has the same bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from billing.ledger import write_exact
from fairclock.model import Interval, utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable


def json_bytes(tree: Any) -> bytes:
    """Return one JSON text, sorted by key, indented by one."""
    text = json.dumps(tree, ensure_ascii=False, sort_keys=True, indent=1, allow_nan=False, default=_plain)
    return f"{text}\n".encode()


def lines_bytes(trees: Iterable[Any]) -> bytes:
    """Return a line of JSON a tree."""
    lines = (
        json.dumps(
            tree, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain
        )
        for tree in trees
    )
    return "".join(f"{line}\n" for line in lines).encode()


def tree_of(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def span(interval: Interval) -> dict[str, str]:
    """Return the two ends of an interval."""
    return {"from": utc_text(interval.start), "to": utc_text(interval.end)}


def _plain(value: object) -> Any:
    if isinstance(value, datetime):
        return utc_text(value)
    if isinstance(value, Fraction):
        return write_exact(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, Interval):
        return span(value)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not written in a bundle")
