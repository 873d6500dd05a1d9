"""Own the words of messages: the templates of both languages, and a customer's own in their place.

This module needs Jinja2, which a sidecar does not have; it is loaded where messages are made, never by others.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from exporters.webhooks.runbooks import runbook_url
from exporters.webhooks.text import cut, cut_bytes
from fairclock.documents.messages import file_loader, message_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from exporters.webhooks.event import AlertEvent

_LOG = logging.getLogger(__name__)
_LONGEST_PART = 4_000
_SECONDS_PER_MINUTE = 60
_MINUTES_PER_HOUR = 60
_UNITS = {"en": ("s", "min", "h"), "zh": ("秒", "分", "小时")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """What is said of one event: a line, and lines below it."""

    title: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """What is said in a message: its title, and a paragraph for each event."""

    title: str
    paragraphs: tuple[Paragraph, ...]

    @property
    def whole(self) -> str:
        """Return all of it but the title; the line of a single event is the title already."""
        if len(self.paragraphs) == 1:
            return self.paragraphs[0].body
        return "\n\n".join(f"{each.title}\n{each.body}" for each in self.paragraphs)

    def within(self, most_bytes: int) -> str:
        """Return all of it but the title where that fits; of several events, their lines alone where it does not."""
        text = self.whole
        if len(text.encode()) > most_bytes and len(self.paragraphs) > 1:
            text = "\n".join(each.title for each in self.paragraphs)
        return cut_bytes(text, most_bytes)


class Renderer:
    """Put events into words of one language, for a service whose text `escape` makes harmless."""

    def __init__(
        self, *, language: str, escape: Callable[[object], str], zone: ZoneInfo, own: Path | None = None
    ) -> None:
        self._zone = zone
        self._units = _UNITS[language]
        shipped = str(files("exporters.webhooks") / "templates" / language)
        self._shipped = self._environment([shipped], escape)
        self._own = None if own is None else self._environment([str(own), shipped], escape)

    def _environment(self, folders: Sequence[str], escape: Callable[[object], str]) -> Any:
        units = self._units
        environment = message_environment(loader=file_loader(folders), escape=escape)
        environment.filters |= {
            "percent": _percent,
            "duration": lambda seconds: _duration(seconds, units),
            "instant": lambda moment: f"{moment.astimezone(self._zone):%Y-%m-%d %H:%M:%S} {self._zone.key}",
        }
        return environment

    def render(
        self, events: Sequence[AlertEvent], *, link: str | None = None, runbooks: str | None = None
    ) -> Text:
        """Return what is said of `events`."""
        paragraphs = tuple(
            Paragraph(
                title=self._part("title.txt", _values(event, link, runbooks)),
                body=self._part("body.txt", _values(event, link, runbooks)),
            )
            for event in events
        )
        if len(paragraphs) == 1:
            return Text(title=paragraphs[0].title, paragraphs=paragraphs)
        return Text(title=self._group_title(events), paragraphs=paragraphs)

    def _group_title(self, events: Sequence[AlertEvent]) -> str:
        values = {
            "states": [event.state.value for event in events],
            "contract_id": events[0].contract_id,
            "is_test": any(event.is_test for event in events),
        }
        return str(self._shipped.get_template("group.txt").render(values)).strip()

    def _part(self, name: str, values: dict[str, Any]) -> str:
        """Return one template's text; a customer's own that fails gives way to the one that is shipped."""
        if self._own is not None:
            try:
                return cut(str(self._own.get_template(name).render(values)).strip(), _LONGEST_PART)
            except Exception as error:  # noqa: BLE001 - a template may raise anything, and the alert goes out all the same
                _LOG.warning(
                    "%s: the template fails, and the usual one is used: %s", name, _first_line(error)
                )
        return cut(str(self._shipped.get_template(name).render(values)).strip(), _LONGEST_PART)


def _values(event: AlertEvent, link: str | None, runbooks: str | None) -> dict[str, Any]:
    values: dict[str, Any] = {
        name: getattr(event, name) for name in event.__dataclass_fields__ if not name.startswith("_")
    }
    values |= {"state": event.state.value, "severity": event.severity.value, "event_id": event.event_id}
    values["link"] = event.link or link
    values["runbook_url"] = runbook_url(event, runbooks)
    return values


def _percent(ratio: float) -> str:
    """Return a share in percent with enough places not to seem 0 or 100 unless it is."""
    for places in (1, 2, 4):
        text = f"{100 * ratio:.{places}f}"
        if float(text) not in {0.0, 100.0} or ratio in {0, 1}:
            break
    return f"{text}%"


def _duration(seconds: float, units: tuple[str, str, str]) -> str:
    second, minute, hour = units
    if seconds < _SECONDS_PER_MINUTE:
        return f"{seconds:.0f} {second}"
    hours, minutes = divmod(round(seconds / _SECONDS_PER_MINUTE), _MINUTES_PER_HOUR)
    return f"{hours} {hour} {minutes} {minute}" if hours else f"{minutes} {minute}"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
