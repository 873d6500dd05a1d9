"""Own how a reading becomes HTML: everything escaped, nothing undefined, nothing styled or run in place."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from fairclock import __version__
from fairclock.console.pages.states import alert_state
from fairclock.console.pages.view import RANGES
from fairclock.console.pages.wording import bidirectional, wording
from fairclock.console.readings.models.overview import Overview
from fairclock.documents.templates import environment
from fairclock.model import utc_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from jinja2 import Environment

    from fairclock.console.pages.view import View
    from fairclock.console.readings.models.base import Page

WAYS = {
    "/": "overview",
    "/requests": "requests",
    "/incidents": "incidents",
    "/cost": "cost",
    "/probes": "probes",
    "/sources": "sources",
    "/reports": "reports",
    "/exclusions": "exclusions",
    "/method": "method",
}
"""The ways of the navigation, and the pages that they lead to."""
REFRESH_SECONDS = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """What a page is beside its reading: its template, which way it lies on, which ranges may be chosen, how often it is updated."""

    template: str
    way: str
    ranges: tuple[str, ...] = ()
    refresh_seconds: int | None = None


FACES = {
    "overview": Face(template="overview", way="/", refresh_seconds=REFRESH_SECONDS),
    "tenant": Face(template="tenant", way="/", ranges=RANGES, refresh_seconds=REFRESH_SECONDS),
    "requests": Face(template="requests", way="/requests", ranges=RANGES),
    "request": Face(template="request", way="/requests"),
    "incidents": Face(template="incidents", way="/incidents", ranges=RANGES, refresh_seconds=REFRESH_SECONDS),
    "cost": Face(template="cost", way="/cost", ranges=("month",)),
    "probes": Face(template="probes", way="/probes", ranges=RANGES, refresh_seconds=REFRESH_SECONDS),
    "sources": Face(template="sources", way="/sources", ranges=RANGES, refresh_seconds=REFRESH_SECONDS),
    "reports": Face(template="reports", way="/reports"),
    "exclusions": Face(template="exclusions", way="/exclusions"),
    "changes": Face(template="changes", way="/exclusions"),
    "method": Face(template="method", way="/method"),
    "sign_in": Face(template="sign_in", way=""),
    "problem": Face(template="problem", way=""),
}
_UTC = "UTC"
_DECEMBER = 12


def zone_of_page(page: Page | None) -> ZoneInfo:
    """Return the zone that a page tells instants in: its range's; on the overview that of all contracts alike."""
    if isinstance(page, Overview):
        zones = {each.time_zone for each in page.contracts}
        if len(zones) == 1:
            return ZoneInfo(zones.pop())
    return ZoneInfo(_UTC if page is None else page.range.time_zone)


def render(name: str, view: View, *, page: Page | None = None, parts: Mapping[str, Any] | None = None) -> str:
    """Return the page `name` of a reading; `parts` is what else its template needs."""
    face = FACES[name]
    words = wording(view.language, zone_of_page(page))
    given = {
        "view": view,
        "page": page,
        "w": words,
        "t": words.text,
        "word": words.word,
        "language": words.own,
        "title": words.text(f"{name}.title"),
        "ways": [
            {"path": way, "name": words.text(f"{WAYS[way]}.title"), "is_here": way == face.way}
            for way in WAYS
        ],
        "has_range": bool(face.ranges),
        "ranges": face.ranges,
        "months": _months_beside(page),
        "refresh_seconds": face.refresh_seconds,
        "is_simulated": False,
        "version": __version__,
        "stamp": static_stamp(),
        "slug": slug,
        "machine": lambda moment: _local_text(words.local(moment)),
        "alert_state": lambda alert: alert_state(alert, words),
    }
    return _environment().get_template(f"{face.template}.html.j2").render({**given, **(parts or {})})


def slug(prefix: str, name: str) -> str:
    """Return an id for `name`; those that no id can be made of are numbered by their content."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if plain and plain == name.lower().replace(" ", "-"):
        return f"{prefix}-{plain}"
    return f"{prefix}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


@lru_cache(maxsize=1)
def static_stamp() -> str:
    """Return what changes when any static file does, so that no browser keeps an old one."""
    folder = resources.files("fairclock.console") / "static"
    files = sorted((each for each in folder.iterdir() if each.is_file()), key=lambda each: each.name)
    return hashlib.sha256(b"".join(each.read_bytes() for each in files)).hexdigest()[:12]


@lru_cache(maxsize=1)
def _environment() -> Environment:
    made = environment("fairclock.console")
    made.filters["bdi"] = bidirectional
    return made


def _months_beside(page: Page | None) -> tuple[str, str] | None:
    """Return the months before and after the one that is shown."""
    if page is None or page.range.month is None:
        return None
    year, month = map(int, page.range.month.split("-"))
    before = f"{year - 1:04d}-12" if month == 1 else f"{year:04d}-{month - 1:02d}"
    after = f"{year + 1:04d}-01" if month == _DECEMBER else f"{year:04d}-{month + 1:02d}"
    return before, after


def _local_text(moment: datetime) -> str:
    """Return an instant as the range's form takes it: with its offset, so that it is never ambiguous."""
    return moment.isoformat(timespec="minutes") if moment.utcoffset() else utc_text(moment)
