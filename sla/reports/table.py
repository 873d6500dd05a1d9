"""Own the CSV: every figure of the report as one row, in a form that spreadsheets do not run."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from fairclock.documents.text import inert_cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sla.reports.reading import Report

_HEADER = ("section", "item", "key", "value")
_BYTE_ORDER_MARK = "\ufeff"
"""Without it spreadsheets read Chinese names in the machine's old code page."""

_NAMES_OF_ITEMS = ("name", "clock", "date", "objective", "family")


def report_csv(report: Report) -> bytes:
    """Return the report as (section, item, key, value) rows; numbers as numbers, names as inert text."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(_HEADER)
    for section, content in report.items():
        for item, key, value in _leaves(content):
            writer.writerow([inert_cell(section), inert_cell(item), inert_cell(key), _cell(value)])
    return (_BYTE_ORDER_MARK + buffer.getvalue()).encode("utf-8")


def _leaves(content: object) -> Iterator[tuple[str, str, object]]:
    """Yield item, key and value of each leaf; an item is a list's entry, by its name or its number."""
    if isinstance(content, list):
        for index, entry in enumerate(content):
            for key, value in _flat(entry, ""):
                yield _item(entry, index), key, value
    elif isinstance(content, dict):
        for name, entry in content.items():
            if isinstance(entry, (dict, list)):
                for key, value in _flat(entry, ""):
                    yield str(name), key, value
            else:
                yield "", str(name), entry
    else:
        yield "", "", content


def _item(entry: object, index: int) -> str:
    if isinstance(entry, dict):
        found = next((entry[key] for key in _NAMES_OF_ITEMS if entry.get(key)), None)
        if found is not None:
            part = entry.get("part")
            return ", ".join([str(found), *map(str, part.values())]) if isinstance(part, dict) else str(found)
    return str(index + 1)


def _flat(entry: object, prefix: str) -> Iterator[tuple[str, object]]:
    children: Mapping[str, Any] | None = None
    if isinstance(entry, dict):
        children = {str(key): value for key, value in entry.items()}
    elif isinstance(entry, list):
        children = {str(index + 1): value for index, value in enumerate(entry)}
    if children is None:
        yield prefix, entry
        return
    for key, value in children.items():
        yield from _flat(value, f"{prefix}.{key}" if prefix else key)


def _cell(value: object) -> str | int | float | Decimal:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, Decimal)):
        return value
    return inert_cell(str(value))
