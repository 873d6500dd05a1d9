"""Own the kinds of value that any clause may hold: each reads text, writes it back, and knows its schema."""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from fairclock.clauses.quantities import (
    QuantityError,
    read_count,
    read_date,
    read_number,
    read_percent,
    write_number,
    write_percent,
)
from fairclock.clauses.suggestions import closest
from fairclock.model.zones import zone_names, zone_of

if TYPE_CHECKING:
    from collections.abc import Callable

PROBLEM = "clause"
"""The error type of every problem found here; its context holds `problem` and `remedy`."""
NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_LONGEST_TEXT = 500
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_CURRENCY = re.compile(r"[A-Z]{3}")


def refuse(problem: str, remedy: str) -> PydanticCustomError:
    """Return the error that says what is wrong with a value and what to write."""
    context = {"problem": problem, "remedy": remedy}
    return PydanticCustomError(PROBLEM, "{problem}; {remedy}", context)


def reader(read: Callable[[str], Any]) -> Callable[[Any], Any]:
    """Return the validator that reads one text by `read`."""

    def validate(value: Any) -> Any:
        if not isinstance(value, str):
            shape = "a mapping" if isinstance(value, dict) else "a list"
            raise refuse(f"is {shape} where one value belongs", "write a single value")
        try:
            return read(value)
        except QuantityError as error:
            raise refuse(error.problem, error.remedy) from error

    return validate


def schema_of(pattern: str, *examples: str, numbers: bool = False) -> WithJsonSchema:
    """Return the schema of a text of a pattern; `numbers`: JSON's own numbers too."""
    kind: Any = ["number", "string"] if numbers else "string"
    return WithJsonSchema({"type": kind, "pattern": f"^(?:{pattern})$", "examples": list(examples)})


def positive(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return `read` for values above 0."""

    def validate(text: str) -> Any:
        value = read(text)
        if value <= 0:
            raise QuantityError("is not above 0", "write a value above 0")
        return value

    return validate


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


def matching(pattern: re.Pattern[str], problem: str, remedy: str) -> Callable[[str], str]:
    """Return what reads texts of a pattern, and refuses others."""

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


Text = Annotated[str, PlainValidator(reader(_text)), WithJsonSchema({"type": "string", "minLength": 1})]
Identifier = Annotated[
    str,
    PlainValidator(
        reader(
            matching(
                _IDENTIFIER,
                "cannot be used in a file's name",
                "use ASCII letters, digits, dots, dashes and underscores, such as acme-2026",
            )
        )
    ),
    schema_of(_IDENTIFIER.pattern, "acme-2026"),
]
Percent = Annotated[
    Fraction,
    PlainValidator(reader(read_percent)),
    PlainSerializer(write_percent),
    schema_of(f"{NUMBER}%", "99.9%"),
]
Number = Annotated[
    Decimal,
    PlainValidator(reader(read_number)),
    PlainSerializer(write_number),
    schema_of(NUMBER, "0.0015", numbers=True),
]
PositiveNumber = Annotated[
    Decimal,
    PlainValidator(reader(positive(read_number))),
    PlainSerializer(write_number),
    schema_of(NUMBER, "80", numbers=True),
]
Count = Annotated[int, PlainValidator(reader(read_count)), schema_of("[0-9]+", "100", numbers=True)]
PositiveCount = Annotated[
    int, PlainValidator(reader(positive(read_count))), schema_of("[0-9]+", "100", numbers=True)
]
Flag = Annotated[bool, PlainValidator(reader(_flag)), WithJsonSchema({"type": "boolean"})]
Day = Annotated[
    date,
    PlainValidator(reader(read_date)),
    PlainSerializer(date.isoformat),
    schema_of("[0-9]{4}-[0-9]{2}-[0-9]{2}", "2026-01-01"),
]
ZoneName = Annotated[
    str, PlainValidator(reader(_zone)), WithJsonSchema({"type": "string", "examples": ["Asia/Shanghai"]})
]
Currency = Annotated[
    str,
    PlainValidator(
        reader(matching(_CURRENCY, "is not a currency", "write its three letters, such as CNY or USD"))
    ),
    schema_of(_CURRENCY.pattern, "CNY"),
]
