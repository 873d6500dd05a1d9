"""Own where an alert's runbook is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exporters.webhooks.event import AlertEvent


def runbook_url(event: AlertEvent, base: str | None) -> str | None:
    """Return the address of the page that says what to do; None where it has none, or nobody said where pages are."""
    if event.runbook is None or base is None:
        return None
    return f"{base.rstrip('/')}/{event.runbook}.md"
