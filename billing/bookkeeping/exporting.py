"""Own how lines of the ledger become CSV that no spreadsheet runs, and Parquet."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from fairclock.documents.text import inert_cell
from fairclock.store.tabular import parquet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairclock.store import Store

_WHOLE = (
    "sequence",
    "reverses",
    "requests",
    "uncached_prompt_tokens",
    "cached_prompt_tokens",
    "completion_tokens",
)
_WIDE = ("gpu_picoseconds",)
_EXACT = ("quantity", "unit_price", "amount")


def csv_text(columns: Sequence[str], lines: Iterable[Mapping[str, Any]]) -> str:
    """Return lines as CSV: text that a spreadsheet would run as a formula is quoted, numbers stay numbers."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    for line in lines:
        writer.writerow([_cell(line[name]) for name in columns])
    return out.getvalue()


def parquet_bytes(store: Store, columns: Sequence[str], lines: Iterable[Mapping[str, Any]]) -> bytes:
    """Return lines as Parquet: amounts are decimals of 18 digits, beside their exact text; what is unknown is null."""
    types = [(name, _type(name)) for name in columns]
    return parquet(store, types, [[line[name] for name in columns] for line in lines])


def _type(name: str) -> str:
    if name in _WHOLE:
        return "Nullable(Int64)"
    if name in _WIDE:
        return "Nullable(Decimal(38, 0))"
    if name in _EXACT:
        return "Nullable(Decimal(38, 18))"
    return "Nullable(Bool)" if name == "estimated" else "Nullable(String)"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return inert_cell(str(value))
