"""Own the comparison of a report with what the oracle expects, to the last digit."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any


def differences(expected: Any, found: Any, path: str = "") -> list[str]:
    """Return where `found` is not `expected`; keys that the oracle does not know are not looked at."""
    if isinstance(expected, dict):
        if not isinstance(found, dict):
            return [f"{path}: expected an object, found {found!r}"]
        return [
            line
            for key, value in expected.items()
            for line in differences(value, found.get(key, "nothing at all"), f"{path}.{key}")
        ]
    if isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            return [f"{path}: expected {len(expected)} items, found {found!r}"]
        return [
            line
            for number, value in enumerate(expected)
            for line in differences(value, found[number], f"{path}[{value.get('name', value.get('clock', number))}]")
        ]
    if isinstance(expected, Fraction | float) and isinstance(found, int | Decimal) and not isinstance(found, bool):
        wanted = Fraction(repr(expected)) if isinstance(expected, float) else expected
        if Fraction(found) == wanted:
            return []
    elif expected == found and type(expected) is type(found):
        return []
    return [f"{path}: expected {_shown(expected)}, found {found!r}"]


def parsed(report: bytes) -> Any:
    """Return the report with its numbers exactly as written."""
    return json.loads(report, parse_float=Decimal)


def _shown(value: Any) -> str:
    return f"{value} = {float(value)!r}" if isinstance(value, Fraction) else repr(value)
