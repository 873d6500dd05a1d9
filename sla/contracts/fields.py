"""Own the kinds of value that only a contract's clauses hold: each reads text, writes it back, and knows its schema."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from fairclock.clauses.fields import NUMBER, matching, positive, reader, schema_of
from fairclock.clauses.quantities import (
    QuantityError,
    decimal_text,
    read_duration_us,
    read_percent,
    read_percentile,
    read_time_of_day,
    write_duration,
    write_percent,
    write_time_of_day,
)
from fairclock.clauses.suggestions import one_of
from fairclock.model import Outcome
from sla.calendars import DaySelection

_HOLIDAY_CODE = re.compile(r"[A-Z]{2}(?:-[A-Z0-9]{1,3})?")
_SIGNATURE_KEY = re.compile(r"ed25519:\S+")
_STATISTIC = re.compile(r"p(?:[1-9]|[1-9][0-9])(?:\.[0-9]{1,3})?|mean")
_DURATION = r"[0-9]+(?:\.[0-9]+)?(?:us|ms|s|m|h|d)"


def _at_most_whole(text: str) -> Fraction:
    ratio = read_percent(text)
    if not 0 < ratio <= 1:
        raise QuantityError("is not above 0% and up to 100%", "write a percentage such as 99.9%")
    return ratio


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


Duration = Annotated[
    int,
    PlainValidator(reader(positive(read_duration_us))),
    PlainSerializer(write_duration),
    schema_of(_DURATION, "2s", "300ms", "72h"),
]
Target = Annotated[
    Fraction,
    PlainValidator(reader(_at_most_whole)),
    PlainSerializer(write_percent),
    schema_of(f"{NUMBER}%", "99.9%"),
]
Percentile = Annotated[
    Fraction,
    PlainValidator(reader(read_percentile)),
    PlainSerializer(decimal_text),
    schema_of(NUMBER, "99", "99.9", numbers=True),
]
TimeOfDay = Annotated[
    int,
    PlainValidator(reader(read_time_of_day)),
    PlainSerializer(write_time_of_day),
    schema_of("(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00", "09:30"),
]
Days = Annotated[
    DaySelection,
    PlainValidator(reader(_days)),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "examples": ["workdays", "mon-fri", "sat,sun"]}),
]
OutcomeName = Annotated[
    Outcome,
    PlainValidator(reader(_outcome)),
    PlainSerializer(str),
    WithJsonSchema({"enum": [outcome.value for outcome in Outcome]}),
]
HolidayCode = Annotated[
    str,
    PlainValidator(
        reader(
            matching(
                _HOLIDAY_CODE, "is not a holiday calendar", "write a country's code, such as CN, US or DE-BY"
            )
        )
    ),
    schema_of(_HOLIDAY_CODE.pattern, "CN", "DE-BY"),
]
SignatureKey = Annotated[
    str,
    PlainValidator(reader(matching(_SIGNATURE_KEY, "is not a signature key", "write ed25519: and the key"))),
    schema_of(_SIGNATURE_KEY.pattern, "ed25519:…"),
]
Statistic = Annotated[
    str,
    PlainValidator(reader(matching(_STATISTIC, "is not a statistic", "write p50, p95, p99 or mean"))),
    schema_of(_STATISTIC.pattern, "p50"),
]
