"""Own the kinds of value that only a price book holds: a currency's digits, a share, a local time."""

from __future__ import annotations

import re
from datetime import datetime, time
from fractions import Fraction
from typing import Annotated

from pydantic import BeforeValidator, Field, PlainSerializer, PlainValidator, WithJsonSchema

from fairclock.clauses.fields import NUMBER, Text, reader, schema_of
from fairclock.clauses.quantities import QuantityError, read_date, read_percent, write_percent

DIGITS = (0, 2, 3)
_LOCAL = re.compile(r"(?P<day>[0-9-]{10})(?:[ T](?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9]))?")
_LOCAL_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2})?"
_CREDIT_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ./-]{0,49}")


def _digits(text: str) -> int:
    if text not in {str(each) for each in DIGITS}:
        raise QuantityError("is not a number of digits that money has here", "write 0, 2 or 3")
    return int(text)


def _share(text: str) -> Fraction:
    if re.fullmatch(r"[01](?:\.[0-9]{1,18})?", text):
        # 0.06 may be 6% or 0.06%: a remedy that guesses would be a hundredfold off
        raise QuantityError(
            "is a number and no percentage", f"write {write_percent(Fraction(text))} if that is meant"
        )
    ratio = read_percent(text)
    if ratio > 1:
        raise QuantityError("is above 100%", "write a share of up to 100%")
    return ratio


def read_local_time(text: str) -> datetime:
    """Read ``2026-01-01`` or ``2026-10-15 12:00``."""
    match = _LOCAL.fullmatch(text)
    if match is None:
        raise QuantityError(
            "is not a time of the book's zone", 'write 2026-01-01, or "2026-01-01 12:00" within a day'
        )
    at = time(int(match["hour"] or 0), int(match["minute"] or 0))
    return datetime.combine(read_date(match["day"]), at)


def _write_local_time(moment: datetime) -> str:
    return moment.isoformat(sep=" ", timespec="minutes")


def _registration(text: str) -> str:
    if not _CREDIT_CODE.fullmatch(text):
        raise QuantityError(
            "is not a registration id", "write its letters and digits, such as 91310000MA1FL0XX4K"
        )
    return text


Digits = Annotated[
    int, PlainValidator(reader(_digits)), WithJsonSchema({"enum": [*DIGITS, *map(str, DIGITS)]})
]
Share = Annotated[
    Fraction,
    PlainValidator(reader(_share)),
    PlainSerializer(write_percent),
    schema_of(f"{NUMBER}%", "6%", "50%"),
]
LocalTime = Annotated[
    datetime,
    PlainValidator(reader(read_local_time)),
    PlainSerializer(_write_local_time),
    schema_of(_LOCAL_TIME, "2026-01-01", "2026-10-15 12:00"),
]
RegistrationId = Annotated[
    str, PlainValidator(reader(_registration)), schema_of(_CREDIT_CODE.pattern, "91310000MA1FL0XX4K")
]
Texts = Annotated[
    tuple[Text, ...],
    Field(min_length=1),
    BeforeValidator(
        lambda value: (value,) if isinstance(value, str) else value,
        json_schema_input_type=Text | Annotated[tuple[Text, ...], Field(min_length=1)],
    ),
]
