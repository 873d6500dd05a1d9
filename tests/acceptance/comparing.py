"""Own the comparison of a report with what the oracle expects, to the last digit."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any


def differences(expected: Any, found: Any, path: str = "") -> list[str]:
    """Return where `found` is not `expected`; keys that the oracle does not know are not looked at."""
    lines: list[str] = []
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            lines += differences(value, found.get(key, "nothing at all"), f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        for number, value in enumerate(expected):
            name = next(iter(value.values())) if isinstance(value, dict) else number
            lines += differences(value, found[number], f"{path}[{name}]")
    elif not _equal(expected, found):
        lines = [f"{path}: expected {_shown(expected)}, found {found!r}"]
    return lines


def _equal(expected: Any, found: Any) -> bool:
    if isinstance(expected, Fraction | float):
        wanted = Fraction(repr(expected)) if isinstance(expected, float) else expected
        return type(found) in (int, Decimal) and Fraction(found) == wanted
    return type(found) is type(expected) and bool(found == expected)


def parsed(report: bytes) -> Any:
    """Return the report with its numbers exactly as written."""
    return json.loads(report, parse_float=Decimal)


def _shown(value: Any) -> str:
    return f"{value} = {float(value)!r}" if isinstance(value, Fraction) else repr(value)
