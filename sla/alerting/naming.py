"""Own what an alert is called: the same for whoever works it out, a life after the other."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache

EVERYBODY = "*"
"""Stands for the contract of what concerns all of them: an engine, a source."""

_DIGEST_CHARACTERS = 8
_LONGEST_NAME = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertKey:
    """What is watched: a rule, of a contract's objective (None: all of it), or of a `subject` such as an engine."""

    contract: str
    rule: str
    objective: str | None = None
    subject: str = ""

    @property
    def text(self) -> str:
        """Return the key as the first part of an alert's id; other keys have other texts, whatever names hold."""
        return _text(self.contract, self.objective or "", self.rule, self.subject)

    def alert_id(self, life: int) -> str:
        """Return the id of the alert in its `life`, which counts from 1: from its first firing to its resolution."""
        return f"{self.text}/{life}"


@lru_cache(maxsize=1 << 16)
def _text(*parts: str) -> str:
    digest = hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogatepass")).hexdigest()
    name = "/".join(part for part in parts if part)
    return f"{name[:_LONGEST_NAME]}/{digest[:_DIGEST_CHARACTERS]}"
