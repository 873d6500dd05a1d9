"""Own the alert event: one change of one alert, finished, with everything that is said of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any

from fairclock.model import utc_text

_ID_CHARACTERS = 32


class State(StrEnum):
    """What an alert is after a change; `pending` is kept and never sent."""

    PENDING = "pending"
    FIRING = "firing"
    FROZEN = "frozen"
    RESOLVED = "resolved"


class Severity(StrEnum):
    """How soon somebody has to look."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertEvent:
    """One change of one alert. What is not known is None, never zero; instants are aware.

    `alert_id` is the same from the first firing to the resolution, `sequence` counts its changes from 1 without a
    gap. `at` is when it changed, `since` since when it holds. `threshold` is a text with its unit. `summary_en` and
    `summary_zh` are one sentence each; names in them may be anybody's text. `runbook` is the name of a page in docs/runbooks.
    """

    alert_id: str
    sequence: int
    state: State
    severity: Severity
    at: datetime
    since: datetime
    contract_id: str
    rule: str
    summary_en: str
    summary_zh: str
    objective: str | None = None
    clock: str | None = None
    tenants: tuple[str, ...] = ()
    window_from: datetime | None = None
    window_to: datetime | None = None
    bad: int | None = None
    n: int | None = None
    threshold: str | None = None
    value: str | None = None
    budget_left_ratio: float | None = None
    data_age_seconds: float | None = None
    coverage_ratio: float | None = None
    queue_share_ratio: float | None = None
    incident: str | None = None
    frozen_reason: str | None = None
    link: str | None = None
    runbook: str | None = None
    is_test: bool = False

    def __post_init__(self) -> None:
        """Refuse a naive instant, and a sequence that does not count."""
        if self.sequence < 1:
            raise ValueError(f"the changes of an alert count from 1, not from {self.sequence}")
        for name in _INSTANTS:
            instant = getattr(self, name)
            if instant is not None and instant.tzinfo is None:
                raise ValueError(f"{name} has no zone")

    @property
    def event_id(self) -> str:
        """Return the id that this change has wherever and however often it is sent: it follows from alert and sequence."""
        return derived_id("evt", self.alert_id, str(self.sequence))


_INSTANTS = ("at", "since", "window_from", "window_to")


def derived_id(kind: str, *parts: str) -> str:
    """Return an id that follows from `parts` alone."""
    digest = hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{kind}_{digest[:_ID_CHARACTERS]}"


def event_tree(event: AlertEvent) -> dict[str, Any]:
    """Return `event` as plain values, with its id first; instants in UTC."""
    tree: dict[str, Any] = {"event_id": event.event_id}
    for field in fields(event):
        value = getattr(event, field.name)
        tree[field.name] = (
            utc_text(value)
            if isinstance(value, datetime)
            else list(value)
            if isinstance(value, tuple)
            else value.value
            if isinstance(value, StrEnum)
            else value
        )
    return tree


def event_text(event: AlertEvent) -> str:
    """Return `event` as it is stored."""
    return json.dumps(event_tree(event), ensure_ascii=True, sort_keys=True)


def read_event(text: str) -> AlertEvent:
    """Return the event that was stored as `text`; keys of later versions are left aside."""
    tree = json.loads(text)
    known = {field.name for field in fields(AlertEvent)}
    values = {name: value for name, value in tree.items() if name in known}
    values["state"], values["severity"] = State(values["state"]), Severity(values["severity"])
    values["tenants"] = tuple(values.get("tenants", ()))
    for name in _INSTANTS:
        if values.get(name) is not None:
            values[name] = datetime.fromisoformat(values[name])
    return AlertEvent(**values)
