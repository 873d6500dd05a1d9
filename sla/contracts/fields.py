"""Own the kinds of value that a clause may hold: each reads text, writes it back, and knows its schema."""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from fairclock.model import Outcome
from sla.calendars import DaySelection, zone_of
from sla.calendars.zones import zone_names
from sla.contracts.quantities import (
    QuantityError,
    decimal_text,
    read_count,
    read_date,
    read_duration_us,
    read_number,
    read_percent,
    read_percentile,
    read_time_of_day,
    write_duration,
    write_number,
    write_percent,
    write_time_of_day,
)
from sla.contracts.suggestions import closest, one_of

if TYPE_CHECKING:
    from collections.abc import Callable

PROBLEM = "clause"
"""The error type of every problem found here; its context holds `problem` and `remedy`."""
_LONGEST_TEXT = 500
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_CURRENCY = re.compile(r"[A-Z]{3}")
_HOLIDAY_CODE = re.compile(r"[A-Z]{2}(?:-[A-Z0-9]{1,3})?")
_SIGNATURE_KEY = re.compile(r"ed25519:\S+")
_STATISTIC = re.compile(r"p(?:[1-9]|[1-9][0-9])(?:\.[0-9]{1,3})?|mean")


def refuse(problem: str, remedy: str) -> PydanticCustomError:
    """Return the error that says what is wrong with a value and what to write."""
    context = {"problem": problem, "remedy": remedy}
    return PydanticCustomError(PROBLEM, "{problem}; {remedy}", context)


def _reader(read: Callable[[str], Any]) -> Callable[[Any], Any]:
    def validate(value: Any) -> Any:
        if not isinstance(value, str):
            shape = "a mapping" if isinstance(value, dict) else "a list"
            raise refuse(f"is {shape} where one value belongs", "write a single value")
        try:
            return read(value)
        except QuantityError as error:
            raise refuse(error.problem, error.remedy) from error

    return validate


def _schema(pattern: str, *examples: str, numbers: bool = False) -> WithJsonSchema:
    kind: Any = ["number", "string"] if numbers else "string"
    return WithJsonSchema({"type": kind, "pattern": f"^(?:{pattern})$", "examples": list(examples)})


def _positive(read: Callable[[str], Any]) -> Callable[[str], Any]:
    def validate(text: str) -> Any:
        value = read(text)
        if value <= 0:
            raise QuantityError("is not above 0", "write a value above 0")
        return value

    return validate


def _at_most_whole(text: str) -> Fraction:
    ratio = read_percent(text)
    if not 0 < ratio <= 1:
        raise QuantityError("is not above 0% and up to 100%", "write a percentage such as 99.9%")
    return ratio


def _text(text: str) -> str:
    if not text.strip():
        raise QuantityError("is empty", "write a text")
    if text != text.strip():
        raise QuantityError("begins or ends with a blank", "take the blank away")
    if len(text) > _LONGEST_TEXT:
        raise QuantityError(f"is longer than {_LONGEST_TEXT} characters", "shorten it")
    if any(unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for character in text):
        raise QuantityError("holds a character that cannot be seen", "write it with visible characters only")
    return text


def _matching(pattern: re.Pattern[str], problem: str, remedy: str) -> Callable[[str], str]:
    def validate(text: str) -> str:
        if not pattern.fullmatch(text):
            raise QuantityError(problem, remedy)
        return text

    return validate


def _flag(text: str) -> bool:
    if text not in {"true", "false"}:
        meant = {"yes": "true", "on": "true", "no": "false", "off": "false"}.get(
            text.lower(), "true or false"
        )
        raise QuantityError("is neither true nor false", f"write {meant}")
    return text == "true"


def _zone(text: str) -> str:
    try:
        zone_of(text)
    except ValueError as error:
        near = closest(text, zone_names())
        raise QuantityError(
            "is not a known time zone",
            f"did you mean {near}?" if near else "write a place, such as Asia/Shanghai",
        ) from error
    return text


def _days(text: str) -> DaySelection:
    try:
        return DaySelection.parse(text)
    except ValueError as error:
        raise QuantityError(
            "are not days", 'write workdays, or weekdays such as mon-fri, "sat,sun", mon'
        ) from error


def _outcome(text: str) -> Outcome:
    names = [outcome.value for outcome in Outcome]
    if text not in names:
        raise QuantityError("is not an outcome", one_of(text, names))
    return Outcome(text)


_DURATION = r"[0-9]+(?:\.[0-9]+)?(?:us|ms|s|m|h|d)"
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"

Text = Annotated[str, PlainValidator(_reader(_text)), WithJsonSchema({"type": "string", "minLength": 1})]
Identifier = Annotated[
    str,
    PlainValidator(
        _reader(
            _matching(
                _IDENTIFIER,
                "cannot be used in a file's name",
                "use ASCII letters, digits, dots, dashes and underscores, such as acme-2026",
            )
        )
    ),
    _schema(_IDENTIFIER.pattern, "acme-2026"),
]
Duration = Annotated[
    int,
    PlainValidator(_reader(_positive(read_duration_us))),
    PlainSerializer(write_duration),
    _schema(_DURATION, "2s", "300ms", "72h"),
]
Percent = Annotated[
    Fraction,
    PlainValidator(_reader(read_percent)),
    PlainSerializer(write_percent),
    _schema(f"{_NUMBER}%", "99.9%"),
]
Target = Annotated[
    Fraction,
    PlainValidator(_reader(_at_most_whole)),
    PlainSerializer(write_percent),
    _schema(f"{_NUMBER}%", "99.9%"),
]
Percentile = Annotated[
    Fraction,
    PlainValidator(_reader(read_percentile)),
    PlainSerializer(decimal_text),
    _schema(_NUMBER, "99", "99.9", numbers=True),
]
Number = Annotated[
    Decimal,
    PlainValidator(_reader(read_number)),
    PlainSerializer(write_number),
    _schema(_NUMBER, "0.0015", numbers=True),
]
PositiveNumber = Annotated[
    Decimal,
    PlainValidator(_reader(_positive(read_number))),
    PlainSerializer(write_number),
    _schema(_NUMBER, "80", numbers=True),
]
Count = Annotated[int, PlainValidator(_reader(read_count)), _schema("[0-9]+", "100", numbers=True)]
PositiveCount = Annotated[
    int, PlainValidator(_reader(_positive(read_count))), _schema("[0-9]+", "100", numbers=True)
]
Flag = Annotated[bool, PlainValidator(_reader(_flag)), WithJsonSchema({"type": "boolean"})]
Day = Annotated[
    date,
    PlainValidator(_reader(read_date)),
    PlainSerializer(date.isoformat),
    _schema("[0-9]{4}-[0-9]{2}-[0-9]{2}", "2026-01-01"),
]
TimeOfDay = Annotated[
    int,
    PlainValidator(_reader(read_time_of_day)),
    PlainSerializer(write_time_of_day),
    _schema("(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00", "09:30"),
]
Days = Annotated[
    DaySelection,
    PlainValidator(_reader(_days)),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "examples": ["workdays", "mon-fri", "sat,sun"]}),
]
ZoneName = Annotated[
    str, PlainValidator(_reader(_zone)), WithJsonSchema({"type": "string", "examples": ["Asia/Shanghai"]})
]
OutcomeName = Annotated[
    Outcome,
    PlainValidator(_reader(_outcome)),
    PlainSerializer(str),
    WithJsonSchema({"enum": [outcome.value for outcome in Outcome]}),
]
Currency = Annotated[
    str,
    PlainValidator(
        _reader(_matching(_CURRENCY, "is not a currency", "write its three letters, such as CNY or USD"))
    ),
    _schema(_CURRENCY.pattern, "CNY"),
]
HolidayCode = Annotated[
    str,
    PlainValidator(
        _reader(
            _matching(
                _HOLIDAY_CODE, "is not a holiday calendar", "write a country's code, such as CN, US or DE-BY"
            )
        )
    ),
    _schema(_HOLIDAY_CODE.pattern, "CN", "DE-BY"),
]
SignatureKey = Annotated[
    str,
    PlainValidator(
        _reader(_matching(_SIGNATURE_KEY, "is not a signature key", "write ed25519: and the key"))
    ),
    _schema(_SIGNATURE_KEY.pattern, "ed25519:…"),
]
Statistic = Annotated[
    str,
    PlainValidator(_reader(_matching(_STATISTIC, "is not a statistic", "write p50, p95, p99 or mean"))),
    _schema(_STATISTIC.pattern, "p50"),
]
