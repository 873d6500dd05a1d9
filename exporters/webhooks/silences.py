"""Own silences: for which alerts, for how long, who said so and why."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from fairclock.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from exporters.webhooks.event import AlertEvent

MATCHED = ("alert", "clock", "contract", "incident", "objective", "rule", "severity", "tenant")


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Alerts that all `matchers` fit are not told of in ``[start, end)``.

    A matcher is a name of `MATCHED` and a pattern with ``*`` and ``?``.
    """

    id: str
    matchers: tuple[tuple[str, str], ...]
    start: datetime
    end: datetime
    author: str
    reason: str
    version: int = 1

    def covers(self, event: AlertEvent, now: datetime) -> bool:
        """Return whether `event` is silent at `now`."""
        return self.start <= now < self.end and all(
            any(fnmatchcase(value, pattern) for value in _values(event, name))
            for name, pattern in self.matchers
        )


def silence(
    *, id_: str, matchers: Sequence[str], start: datetime, end: datetime, author: str, reason: str
) -> Silence:
    """Return a silence of matchers written ``name=pattern``; raises `UsageError`."""
    if not matchers:
        raise UsageError("--match", "is missing", remedy="write contract=acme-2026, or rule=* for all")
    pairs = []
    for text in matchers:
        name, equals, pattern = text.partition("=")
        if name not in MATCHED or not equals or not pattern:
            raise UsageError(
                "--match", "is no matcher", found=text, remedy=f"write NAME=PATTERN with {', '.join(MATCHED)}"
            )
        pairs.append((name, pattern))
    if end <= start:
        raise UsageError("--to", "is not after --from", remedy="name a later instant")
    for name, value in (("--author", author), ("--reason", reason)):
        if not value.strip():
            raise UsageError(name, "is empty", remedy="a silence says who wanted it, and why")
    return Silence(
        id=id_, matchers=tuple(pairs), start=start, end=end, author=author.strip(), reason=reason.strip()
    )


def _values(event: AlertEvent, name: str) -> tuple[str, ...]:
    if name == "tenant":
        return event.tenants
    value = {
        "alert": event.alert_id,
        "clock": event.clock,
        "contract": event.contract_id,
        "incident": event.incident,
        "objective": event.objective,
        "rule": event.rule,
        "severity": event.severity.value,
    }[name]
    return () if value is None else (value,)
