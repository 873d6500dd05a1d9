"""Own the CSV: a row a line and a row with the totals, in a form that spreadsheets do not run."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from billing.invoices.wording import description, language_of, remarks, unit
from fairclock.documents.text import inert_cell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairclock.documents.languages import Language

_BYTE_ORDER_MARK = "\ufeff"
"""Without it spreadsheets read Chinese names in the machine's old code page."""
_COLUMNS = (
    "statement", "status", "line", "section", "description", "remarks", "month", "model", "machine", "treatment",
    "price_version", "quantity", "unit", "unit_price", "net", "tax_rate", "tax", "gross", "currency",
    "original_statement", "objective", "revision",
)  # fmt: skip
_NUMBERS = frozenset({"line", "quantity", "unit_price", "net", "tax", "gross", "revision"})


def statement_csv(statement: Mapping[str, Any], code: str) -> bytes:
    """Return the statement as CSV in a language; numbers as numbers, names as inert text, totals in the last row."""
    language = language_of(code)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow([inert_cell(language.text(f"column.{column}")) for column in _COLUMNS])
    for line in statement["lines"]:
        writer.writerow(_row(_cells(line, statement, language)))
    totals = statement["totals"]
    last = {
        "section": language.text("totals.label"),
        "description": language.text("document.kind"),
        "month": statement["month"],
        **{key: totals[key] for key in ("net", "tax", "gross")},
    }
    writer.writerow(_row({**last, **_head(statement, language)}))
    return (_BYTE_ORDER_MARK + buffer.getvalue()).encode("utf-8")


def _cells(line: Mapping[str, Any], statement: Mapping[str, Any], language: Language) -> dict[str, object]:
    treatment = line["treatment"]
    return {
        **{column: line.get(column) for column in _COLUMNS},
        **_head(statement, language),
        "line": line["number"],
        "section": language.text(f"section.{line['section']}"),
        "description": description(line, language),
        "remarks": language.text("remark.joined").join(remarks(line, statement, language)),
        "treatment": language.text(f"treatment.{treatment}") if treatment else None,
        "unit": unit(line, language),
        "original_statement": line["statement"],
    }


def _head(statement: Mapping[str, Any], language: Language) -> dict[str, object]:
    return {
        "statement": statement["number"],
        "status": language.text(f"status.{statement['status']}"),
        "currency": statement["currency"]["code"],
    }


def _row(cells: Mapping[str, object]) -> list[str]:
    return [_cell(column, cells.get(column)) for column in _COLUMNS]


def _cell(column: str, value: object) -> str:
    if value is None:
        return ""
    # a quotient such as 1/3 is no number to a spreadsheet, which would read a date in it: text is guarded against that
    is_number = column in _NUMBERS and "/" not in str(value)
    return str(value) if is_number else inert_cell(str(value))
