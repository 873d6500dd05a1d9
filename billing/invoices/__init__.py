"""Own the statement of charges: exact lines in, one dictionary rounded once, printed as JSON, CSV, HTML and PDF.

A statement is no tax invoice; it carries what one needs. The JSON is the statement, the others are views of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from billing.invoices.assembling import Issue, statement_data
from billing.invoices.canonical import statement_json, statement_sha256
from billing.invoices.data import Exchange, Line, Party, PricesUsed, StatementData
from billing.invoices.statement import statement
from fairclock.documents.files import write_whole
from fairclock.errors import DocumentError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

__all__ = [
    "FORMATS",
    "LANGUAGES",
    "Exchange",
    "Issue",
    "Line",
    "Party",
    "PricesUsed",
    "StatementData",
    "statement",
    "statement_data",
    "statement_json",
    "statement_sha256",
    "write_statement",
]

FORMATS = ("pdf", "html", "json", "csv", "focus")
LANGUAGES = ("en", "zh")
_NEVER_IN_A_FILE_NAME = frozenset('/\\\0:*?"<>|')
_LONGEST_FILE_NAME_BYTES = 255


def write_statement(
    made: Mapping[str, Any], *, formats: Sequence[str], languages: Sequence[str], directory: Path
) -> list[Path]:
    """Write ``<tenant>-<YYYY-MM>-invoice.<format>`` into `directory` and return the paths.

    Where both languages are asked for, the Chinese one is ``….zh.<format>``. JSON has no language; ``focus`` is
    ``….focus.csv``, in English. Everything is made before anything is written; each file appears whole.
    """
    _check(formats, FORMATS, "--format")
    _check(languages, LANGUAGES, "--lang")
    stem = f"{made['tenant']}-{made['month']}-invoice"
    contents = {
        _file_name(stem, ending): content
        for format_ in dict.fromkeys(formats)
        for ending, content in _views(made, format_, list(dict.fromkeys(languages)))
    }
    for name, content in contents.items():
        write_whole(directory / name, content)
    return [directory / name for name in contents]


def _views(made: Mapping[str, Any], format_: str, languages: Sequence[str]) -> list[tuple[str, bytes]]:
    if format_ == "json":
        return [("json", statement_json(made))]
    if format_ == "focus":
        from billing.invoices.focus import focus_csv  # noqa: PLC0415 - needs the words, and so Babel

        return [("focus.csv", focus_csv(made))]
    return [
        (f"zh.{format_}" if code == "zh" and len(languages) > 1 else format_, _page(made, format_, code))
        for code in languages
    ]


def _page(made: Mapping[str, Any], format_: str, code: str) -> bytes:
    # Only here are the template, language and PDF libraries needed.
    if format_ == "csv":
        from billing.invoices.table import statement_csv  # noqa: PLC0415

        return statement_csv(made, code)
    from billing.invoices.html import statement_html  # noqa: PLC0415

    html = statement_html(made, code)
    if format_ == "html":
        return html.encode("utf-8")
    from fairclock.documents.pdf import render_pdf  # noqa: PLC0415

    return render_pdf(html, identifier=f"{statement_sha256(made)}-{code}")


def _check(chosen: Sequence[str], known: Sequence[str], what: str) -> None:
    unknown = [each for each in chosen if each not in known]
    if unknown or not chosen:
        raise UsageError(
            what,
            "there is no such choice" if unknown else "nothing is chosen",
            found=", ".join(unknown) or None,
            remedy=f"choose from {', '.join(known)}",
        )


def _file_name(stem: str, ending: str) -> str:
    name = f"{stem}.{ending}"
    hostile = name.startswith(".") or any(
        each in _NEVER_IN_A_FILE_NAME or not each.isprintable() for each in name
    )
    if hostile or len(name.encode("utf-8", "surrogatepass")) > _LONGEST_FILE_NAME_BYTES:
        raise DocumentError(
            "tenant",
            "the tenant's name cannot be a file name",
            found=repr(stem[:80]),
            remedy="write the statement as --json and name the file yourself",
        )
    return name
