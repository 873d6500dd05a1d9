"""Own what a gateway or an operator says about a degradation: its form, its identity, how it is kept."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from fairclock.model.remedies import DegradationEntry
from fairclock.store.remedies import degradations_as_of, keep_degradation

if TYPE_CHECKING:
    from datetime import datetime

    from fairclock.store import Store

_YEARS = range(2000, 2200)
_ID_DIGITS = 12


def _storable(value: datetime) -> datetime:
    if value.year not in _YEARS:
        raise ValueError("is not in a year that can be measured")
    return value


Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$"),
]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
Moment = Annotated[AwareDatetime, AfterValidator(_storable)]


class Degradation(BaseModel):
    """A degradation as it is sent: `to` is absent while it lasts, `tenants` where it touches all."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)

    mode: Name
    level: Name | None = None
    starts_at: Moment = Field(alias="from")
    ends_at: Moment | None = Field(default=None, alias="to")
    tenants: Annotated[tuple[Name, ...], Field(max_length=1_000)] = ()
    reason: Text

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Degradation:
        if self.ends_at is not None and self.ends_at <= self.starts_at:
            raise ValueError("`to` is not after `from`")
        return self

    @property
    def id(self) -> str:
        """Return its identity: the mode, the start and the tenants. What is said of the same again is the same."""
        text = "\n".join((self.mode, f"{self.starts_at.timestamp():.6f}", *sorted(set(self.tenants))))
        return f"dg-{hashlib.sha256(text.encode()).hexdigest()[:_ID_DIGITS]}"


def record(
    store: Store, said: Degradation, *, author: str, origin: Literal["command", "api", "alert"]
) -> tuple[DegradationEntry, bool]:
    """Keep what was said and return it, with whether it says anything new; saying it again adds nothing."""
    known = {each.id: each for each in degradations_as_of(store, store.watermark())}
    before = known.get(said.id)
    entry = DegradationEntry(
        id=said.id,
        sequence=1 if before is None else before.sequence + 1,
        mode=said.mode,
        level=said.level or "",
        starts_at=said.starts_at,
        ends_at=said.ends_at,
        tenants=tuple(sorted(set(said.tenants))),
        reason=said.reason,
        author=author,
        origin=origin,
    )
    if before is not None and _same(before, entry):
        return before, False
    return keep_degradation(store, entry), True


def _same(before: DegradationEntry, entry: DegradationEntry) -> bool:
    """Say whether two entries say the same, whoever says it."""
    return (
        replace(
            entry,
            sequence=before.sequence,
            author=before.author,
            origin=before.origin,
            stored_at=before.stored_at,
        )
        == before
    )
