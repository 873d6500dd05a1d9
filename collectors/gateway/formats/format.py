"""Own what a gateway's log format is: how its lines are recognised, and what their fields mean."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self, TypeAlias

from collectors.gateway.formats.times import us_of_seconds
from fairclock.errors import ConfigurationError

Fields: TypeAlias = dict[str, str]
"""What a line says, by canonical key, all as text; what is not known is absent, `-` or empty.

Keys: those of DESIGN 5 (`time`, the request's end in seconds since 1970, `status`, `request_time` in seconds, …);
`queue`, `forwarded`, `connected`, `time_to_first_token`: seconds; `timeout`, `client_cancelled`: "1";
`api_key`, `api_key_sha256`, `client_subject`: who called, for the tenant's sake, never handed on.
"""


class UnreadableLine(ValueError):  # noqa: N818 - a state of a line, made a dead letter by whoever reads it
    """A line that is no request of its format; the reason names field and fault, and never shows content."""

    def __init__(self, reason: str) -> None:
        """Keep `reason`, such as "duration: not a number of milliseconds"."""
        super().__init__(reason)
        self.reason = reason


class GatewayFormat(ABC):
    """One way in which a gateway writes down a request.

    name: what ``--format`` calls it. title: what it is called in a sentence.
    passes_through: its lines are canonical as they are.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    passes_through: ClassVar[bool] = False
    argument: str = ""

    @property
    def full_name(self) -> str:
        """Return the name by which `format_of` finds exactly this format again."""
        return f"{self.name}:{self.argument}" if self.argument else self.name

    @abstractmethod
    def recognise(self, line: bytes) -> str | None:
        """Return why `line` is of this format, as "it …" or "its …" goes on, or None where it is not, or may be another."""

    @abstractmethod
    def read(self, line: bytes) -> Fields:
        """Return what `line` says; raises `UnreadableLine`, and no other exception, whatever the line holds."""

    def ignores(self, line: bytes) -> bool:
        """Return whether `line` is a header or a comment, which is neither a request nor a fault."""
        del line
        return False

    def ended_us(self, line: bytes) -> int | None:
        """Return when the request ended, µs since 1970, or None where the line does not say; cheap where it can be."""
        try:
            return us_of_seconds(self.read(line).get("time", ""))
        except UnreadableLine:
            return None

    def with_argument(self, argument: str) -> Self:
        """Return the format for what follows the colon of NAME:ARGUMENT; raises `ConfigurationError`."""
        raise ConfigurationError(
            "gateway.format",
            f"{self.name} takes nothing after a colon",
            found=argument,
            remedy=f"write {self.name}",
        )
