"""Own the parameters of endpoints: each with its JSON schema, by which it is described and checked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from fairclock.console.readings.models.base import RangeName
from fairclock.console.readings.requests import MOST
from fairclock.errors import UsageError
from fairclock.model import Outcome
from fairclock.store.request_search import ORDERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LONGEST = 200
_MOST_CHANGES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of the query or the path."""

    name: str
    about: str
    schema: Mapping[str, Any]
    place: Literal["query", "path"] = "query"
    example: Any = field(default=None)

    def check(self, text: str) -> None:
        """Raise `UsageError` unless `text` is what the schema asks for."""
        schema = self.schema
        where = self.name
        if schema["type"] == "integer":
            low, high = schema["minimum"], schema["maximum"]
            if not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) or not low <= int(text) <= high:
                raise UsageError(where, "is no such number", found=text[:50], remedy=f"write {low} to {high}")
            return
        if not schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", _LONGEST):
            raise UsageError(
                where,
                "is too long or too short",
                remedy=f"write up to {schema.get('maxLength', _LONGEST)} characters",
            )
        if not text.isprintable():
            raise UsageError(where, "holds what cannot be printed", remedy="write letters, digits and signs")
        known: Sequence[str] | None = schema.get("enum")
        if known is not None and text not in known:
            raise UsageError(
                where, "is none that is known", found=text[:50], remedy=f"write {', '.join(known)}"
            )
        if "pattern" in schema and not re.fullmatch(schema["pattern"].strip("^$"), text, re.ASCII):
            raise UsageError(where, "is not well formed", found=text[:50], remedy=self.about)


def _text(**more: Any) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": _LONGEST, **more}


_INSTANT = _text(format="date-time", maxLength=40)
RANGE = (
    Parameter(
        name="range",
        about="The range, up to now; month is the calendar month that `month` names, or the latest.",
        schema={"type": "string", "enum": [each.value for each in RangeName if each is not RangeName.CUSTOM]},
    ),
    Parameter(
        name="month",
        about="A month in the contract's time zone (UTC where there is no contract): 2026-10.",
        schema={"type": "string", "pattern": r"^[0-9]{4}-(0[1-9]|1[0-2])$"},
        example="2026-10",
    ),
    Parameter(name="from", about="Where the range begins, with its zone; needs `to`.", schema=_INSTANT),
    Parameter(name="to", about="Where the range ends; it is not part of it.", schema=_INSTANT),
)
TENANT_PATH = Parameter(name="tenant", place="path", about="A tenant's name at the gateway.", schema=_text())
TENANT = Parameter(name="tenant", about="Only this tenant's.", schema=_text())
CONTRACT = Parameter(name="contract", about="A contract's id.", schema=_text())
NAME = Parameter(name="name", about="A request id, or a trace id (32 hexadecimal digits).", schema=_text())
OUTCOME = Parameter(
    name="outcome",
    about="Only those that ended so.",
    schema={"type": "string", "enum": [str(each) for each in Outcome]},
)
ORDER = Parameter(
    name="order",
    about="What they are put in order by, the greatest first.",
    schema={"type": "string", "enum": list(ORDERS)},
)
MOST_REQUESTS = Parameter(
    name="most", about="How many at most.", schema={"type": "integer", "minimum": 1, "maximum": MOST}
)
MOST_CHANGES = Parameter(
    name="most", about="How many at most.", schema={"type": "integer", "minimum": 1, "maximum": _MOST_CHANGES}
)
KEY = Parameter(
    name="key",
    place="path",
    about="A request's key, as lists of requests give it.",
    schema={"type": "string", "pattern": r"^[0-9]{1,17}-[0-9a-f]{32}-[0-9]{1,5}$"},
)


def checked(parameters: Sequence[Parameter], query: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the query's parameters, each at most once and as its schema asks for; UsageError."""
    known = {each.name: each for each in parameters if each.place == "query"}
    found: dict[str, str] = {}
    for name, text in query:
        if name not in known:
            shown = name[:50] if name.isprintable() else None
            remedy = f"leave it out; known are {', '.join(known)}" if known else "leave it out"
            raise UsageError("query", "has a parameter that is not known", found=shown, remedy=remedy)
        if name in found:
            raise UsageError(name, "is given twice", remedy="give it once")
        known[name].check(text)
        found[name] = text
    return found
