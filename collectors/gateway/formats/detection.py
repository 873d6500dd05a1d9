"""Own which format a log is in: named, or recognised by its first lines, each file for itself.

Where several formats could have written a log, nobody guesses. Where none could, it is read as the one that
Fairclock ships, which makes dead letters of its lines and says what they look like.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collectors.gateway.formats import nginx_json
from collectors.gateway.formats.registry import FORMATS, format_of
from fairclock.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from collectors.gateway.formats.format import GatewayFormat

SHIPPED = nginx_json.FORMAT.name
"""The format of the log_format that Fairclock ships."""

AUTO = "auto"
_ENOUGH_LINES = 50
_MOST_LINES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """The format of a log, and why it was taken; `certain` is False where nothing was recognised."""

    form: GatewayFormat
    why: str
    certain: bool = True

    def tell(self, logger: logging.Logger, name: str) -> None:
        """Say what the log called `name` is read as; that it is in the format that Fairclock ships goes without saying."""
        level = logging.DEBUG if self.form.name == SHIPPED else logging.INFO
        logger.log(level, "%s is read as %s: %s", name, self.form.name, self.why)


class FormatChoice:
    """What the operator said about a log's format: a name, or that it is to be recognised."""

    def __init__(self, name: str = AUTO) -> None:
        """Take "auto", NAME or NAME:ARGUMENT; raises `ConfigurationError`."""
        self.name = name
        self._named = None if name == AUTO else format_of(name)

    def of(self, lines: Iterable[bytes], *, where: str) -> Detected:
        """Return the format of a log that begins with `lines`; raises `InputError` where several are possible."""
        if self._named is not None:
            return Detected(form=self._named, why="as you said")
        return _detected(lines, where)


def _detected(lines: Iterable[bytes], where: str) -> Detected:
    reasons: dict[str, str] = {}
    counts: dict[str, int] = {}
    recognised = 0
    for number, line in enumerate(lines):
        if number >= _MOST_LINES or recognised >= _ENOUGH_LINES:
            break
        found = {each.name: why for each in FORMATS.values() if (why := each.recognise(line)) is not None}
        recognised += bool(found)
        for name, why in found.items():
            reasons.setdefault(name, why)
            counts[name] = counts.get(name, 0) + 1
    possible = [name for name, count in counts.items() if count == recognised]
    if not counts:
        return Detected(form=nginx_json.FORMAT, why="nothing else was recognised", certain=False)
    if len(possible) != 1:
        raise InputError(
            where,
            "more than one format is possible",
            found="; ".join(f"{FORMATS[name].title}, for {reasons[name]}" for name in sorted(counts)),
            remedy=f"name one: --format {' or '.join(sorted(counts))}",
        )
    return Detected(form=FORMATS[possible[0]], why=reasons[possible[0]])
