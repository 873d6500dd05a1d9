"""Own the bytes of a statement: one order, one form, so that its hash means something."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def statement_json(statement: Mapping[str, Any]) -> bytes:
    """Return the statement as UTF-8 JSON with two spaces of indent and a newline at the end; amounts are texts."""
    return (json.dumps(statement, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def statement_sha256(statement: Mapping[str, Any]) -> str:
    """Return the hash of the JSON, which every view prints."""
    return hashlib.sha256(statement_json(statement)).hexdigest()
