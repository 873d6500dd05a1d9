"""Own which requests an objective looks at (`where`) and when it holds (`during`)."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, PlainSerializer, PlainValidator, WithJsonSchema

from fairclock.clauses.clause import Clause
from fairclock.clauses.fields import Count, Flag, Text, refuse
from fairclock.model.length_classes import LENGTH_CLASSES

_RANGES: dict[str, dict[str, str]] = {
    each.name: {edge: str(tokens) for edge, tokens in each.edges.items()} for each in LENGTH_CLASSES
}
"""The ready ranges of tokens that a contract may call by name, as a contract writes them."""
PERIOD_NAME = re.compile(r"[^\W\d][\w-]{0,62}")
RESERVED_PERIOD_NAMES = frozenset({"not", "workdays", "always", "none"})
_DURING = re.compile(rf"(not\s+)?({PERIOD_NAME.pattern})")


class TokenRange(Clause):
    """A range of whole numbers of tokens; `below` and `above` leave the edge out, the others include it."""

    below: Count | None = None
    at_most: Count | None = None
    above: Count | None = None
    at_least: Count | None = None

    @property
    def lowest(self) -> int:
        """Return the smallest number inside."""
        return max(self.at_least or 0, 0 if self.above is None else self.above + 1)

    @property
    def highest(self) -> int | None:
        """Return the largest number inside; None where there is no upper edge."""
        edges = [self.at_most, None if self.below is None else self.below - 1]
        return min((edge for edge in edges if edge is not None), default=None)


def _range(value: Any) -> Any:
    return _RANGES.get(value, value) if isinstance(value, str) else value


def _texts(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


TokenRangeClause = Annotated[
    TokenRange,
    BeforeValidator(
        _range, json_schema_input_type=Literal["short", "medium", "long", "long_context"] | TokenRange
    ),
    PlainSerializer(lambda value: value.model_dump(exclude_none=True)),
]
Texts = Annotated[
    tuple[Text, ...],
    Field(min_length=1),
    BeforeValidator(_texts, json_schema_input_type=Text | Annotated[tuple[Text, ...], Field(min_length=1)]),
]


class Where(Clause):
    """Conditions on a request, all of which must hold; none at all means every request."""

    models: Texts | None = None
    routes: Texts | None = None
    regions: Texts | None = None
    prompt_tokens: TokenRangeClause | None = None
    completion_tokens: TokenRangeClause | None = None
    stream: Flag | None = None
    inference_mode: Texts | None = None

    @property
    def given(self) -> bool:
        """Tell whether there is any condition."""
        return bool(self.model_fields_set)

    @property
    def needs_measurement(self) -> bool:
        """Tell whether a request may lack what is asked for (tokens, streaming, mode)."""
        measured = (self.prompt_tokens, self.completion_tokens, self.stream, self.inference_mode)
        return any(condition is not None for condition in measured)


class During(NamedTuple):
    """A named period of the calendar, or everything outside it."""

    name: str
    negated: bool

    def __str__(self) -> str:
        return f"not {self.name}" if self.negated else self.name


def read_during(value: Any) -> During:
    """Read ``peak`` or ``not peak``."""
    match = _DURING.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[2] == "not":
        raise refuse("names no period", "write the name of a period of the calendar, or `not` and the name")
    return During(name=match[2], negated=match[1] is not None)


DuringClause = Annotated[
    During,
    PlainValidator(read_during),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "examples": ["peak", "not peak"]}),
]
