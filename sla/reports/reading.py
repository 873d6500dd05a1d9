"""Own how the report's dictionary is read: numbers exactly, texts in a language, gaps as gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from fairclock.documents.numbers import exact
from fairclock.documents.text import printable

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

Report: TypeAlias = Mapping[str, Any]


def number(value: object) -> Fraction | None:
    """Return a JSON number, or a decimal in text (``"99.5%"`` too), exactly; None stays None."""
    if value is None:
        return None
    if isinstance(value, str):
        return exact(value[:-1]) / 100 if value.endswith("%") else exact(value)
    if isinstance(value, (int, float, Decimal, Fraction)):
        return exact(value)
    raise TypeError(f"not a number: {value!r}")


def count(value: object) -> int | None:
    """Return a whole number; None stays None."""
    found = number(value)
    return None if found is None else int(found)


def words_in(value: object, code: str) -> str:
    """Return the text of `value` in a language: a plain text, or one of ``{en: …, zh: …}``."""
    if isinstance(value, Mapping):
        chosen = value.get(code) or next((text for text in value.values() if text), "")
        return printable(str(chosen))
    return printable("" if value is None else str(value))


def texts(value: object) -> list[str]:
    """Return a list of printable texts; None is the empty list, a single text a list of one."""
    if value is None:
        return []
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [printable(str(each)) for each in value]
    return [printable(str(value))]


def moment(value: object, zone: ZoneInfo) -> datetime:
    """Return an instant as people in `zone` write it."""
    found = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return found.astimezone(zone)


def day(value: object) -> date:
    """Return a calendar day."""
    return value if isinstance(value, date) else date.fromisoformat(str(value)[:10])


def is_evaluated(report: Report, key: str) -> bool:
    """Tell whether the evaluation filled `key`; what it does not evaluate yet is null or empty."""
    return report.get(key) not in (None, [], {})
