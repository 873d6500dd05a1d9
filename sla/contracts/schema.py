"""Own the published JSON Schema of the contract file."""

from __future__ import annotations

from typing import Any

from fairclock.clauses.schema import published_schema
from sla.contracts.contract import Contract


def contract_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a contract file; numbers may be written as numbers or as texts."""
    return published_schema(
        Contract,
        identifier="urn:fairclock:contract:v1",
        title="Fairclock contract",
        description="One version of one contract; see docs/contract-reference.md.",
    )
