"""Own the section ``webhooks`` of the configuration."""

from __future__ import annotations

import re
from datetime import time
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, field_validator, model_validator

from exporters.webhooks.event import Severity
from fairclock.config import FilePath, Seconds, Section, refuse

PAGERDUTY_URL = "https://events.pagerduty.com/v2/enqueue"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_URL_IS_SECRET = frozenset({"slack", "teams", "dingtalk", "feishu", "wecom"})
_SECRET_NEEDED = frozenset({"json", "pagerduty", "dingtalk", "feishu"})
_NO_SECRET = frozenset({"slack", "teams", "wecom"})

FormatName = Literal["json", "alertmanager", "slack", "teams", "pagerduty", "dingtalk", "feishu", "wecom"]


def _time_of_day(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    match = _TIME.fullmatch(value.strip())
    if match is None:
        raise refuse("is not a time of day", "write 22:00")
    return time(int(match[1]), int(match[2]))


def _zone(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return ZoneInfo(value)
    except (ValueError, OSError, LookupError):
        raise refuse("is not a time zone", "write Asia/Shanghai or UTC") from None


TimeOfDay = Annotated[time, BeforeValidator(_time_of_day)]
Zone = Annotated[ZoneInfo, BeforeValidator(_zone)]


class PlaceSection(Section):
    """One place that messages are sent to: what it is called, where it is, what they are signed with, and what they are about."""

    name: str
    """What it is called in lists and logs."""

    url: str | None = Field(default=None, repr=False)
    """Its address, where that is no secret."""

    url_env: str | None = None
    """The variable of the environment that holds its address."""

    url_file: FilePath | None = None
    """The file that holds its address."""

    secret_env: str | None = None
    """The variable that holds what it is signed with, or what is shown to it."""

    secret_file: FilePath | None = None
    """The file that holds that."""

    language: Literal["en", "zh"] = "en"
    """The language it is told in."""

    contracts: tuple[str, ...] = ("*",)
    """Of which contracts it is told; names may hold * and ?."""

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise refuse("is no name", "write up to 64 letters, digits, dots and dashes")
        return name

    @field_validator("url_env", "secret_env")
    @classmethod
    def _is_a_variable(cls, name: str | None) -> str | None:
        if name is not None and not _VARIABLE.fullmatch(name):
            # somebody may have written the secret itself here
            raise refuse("is not the name of a variable", "write the name, and the secret there", secret=True)
        return name

    @field_validator("url")
    @classmethod
    def _is_a_url(cls, url: str | None) -> str | None:
        if url is not None and (problem := url_problem(url)):
            raise refuse(problem, "write https://host/path", secret=True)
        return url

    def _one_secret(self, *, is_needed: bool) -> list[object]:
        """Return what names its secret; refuse two of them, and none where one is needed."""
        secrets: list[object] = [each for each in (self.secret_env, self.secret_file) if each is not None]
        if len(secrets) > 1 or (not secrets and is_needed):
            raise refuse("needs one of secret_env and secret_file", "write where its secret is")
        return secrets

    def _urls(self) -> list[object]:
        return [each for each in (self.url, self.url_env, self.url_file) if each is not None]


class DestinationSection(PlaceSection):
    """One place that alerts are sent to."""

    format: FormatName
    """What it takes."""

    severities: tuple[Severity, ...] = tuple(Severity)
    """Of which severities it is told."""

    templates: FilePath | None = None
    """A folder with a title.txt or body.txt of your own (Jinja2)."""

    @model_validator(mode="after")
    def _has_what_its_format_needs(self) -> Self:
        urls = self._urls()
        if self.url is not None and self.format in _URL_IS_SECRET:
            raise refuse(
                f"whoever knows an address of {self.format} can post there, so it is a secret",
                "put it into a variable (url_env) or a file (url_file)",
            )
        if len(urls) > 1 or (not urls and self.format != "pagerduty"):
            raise refuse("needs one of url, url_env and url_file", "write where it is")
        secrets = self._one_secret(is_needed=self.format in _SECRET_NEEDED)
        if secrets and self.format in _NO_SECRET:
            raise refuse(f"{self.format} knows no secret beside its address", "take the secret away")
        return self


class QuietHoursSection(Section):
    """When only what is urgent is sent; the rest waits until they end."""

    begin: TimeOfDay | None = Field(default=None, examples=["22:00"])
    """The time of day at which they begin, each day."""

    end: TimeOfDay | None = Field(default=None, examples=["07:00"])
    """The time of day at which they end."""

    time_zone: Zone = Field(default="UTC", validate_default=True)
    """By whose clocks."""

    let_through: tuple[Severity, ...] = Field(default=(Severity.CRITICAL,))
    """Which severities are sent all the same."""

    @model_validator(mode="after")
    def _both_or_none(self) -> Self:
        if (self.begin is None) != (self.end is None):
            raise refuse("need both begin and end, or none of them", "write the one that is missing")
        if self.begin is not None and self.begin == self.end:
            raise refuse("end when they begin", "write another end")
        return self


class WebhooksSection(Section):
    """Who is told of alerts."""

    destinations: tuple[DestinationSection, ...] = Field(
        default=(), examples=[[{"name": "on-call", "format": "slack", "url_env": "FAIRCLOCK_SLACK_URL"}]]
    )
    """Who is told, and how; docs/webhooks.md explains the keys and formats."""

    allow_internal: tuple[str, ...] = Field(default=(), examples=[["receiver.internal.example"]])
    """Hosts that may have addresses of this machine or its networks, and be spoken to without TLS."""

    ca: FilePath | None = Field(default=None, examples=["/etc/fairclock/ca.pem"])
    """The certificates (PEM) by which destinations are known, in place of the system's."""

    group_wait: Seconds = Field(default="3s", validate_default=True)
    """For how long events of one incident or contract are gathered into one message."""

    hold_down: Seconds = Field(default="60s", validate_default=True)
    """How long an alert has to stay resolved or frozen before that is sent."""

    give_up: Seconds = Field(default="24h", validate_default=True)
    """After how long a message that does not get through is given up."""

    time_zone: Zone = Field(default="UTC", validate_default=True)
    """The zone of the times in messages."""

    link: str | None = Field(default=None, examples=["https://fairclock.example"])
    """The address of this Fairclock, as those who are told can open it."""

    runbooks: str | None = Field(default=None, examples=["https://wiki.example/fairclock/runbooks"])
    """Where the pages of docs/runbooks are, as those who are told can open them; a page is this, a slash, its name and .md."""

    quiet_hours: QuietHoursSection = QuietHoursSection()

    @field_validator("link", "runbooks")
    @classmethod
    def _is_a_url(cls, link: str | None) -> str | None:
        if link is not None and (problem := url_problem(link)):
            raise refuse(problem, "write https://host")
        return link

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [each.name for each in self.destinations]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise refuse(f"two destinations are called {twice}", "give each a name of its own")
        return self


def url_problem(url: str) -> str:
    """Return why `url` cannot be posted to; an empty string where it can."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or " " in url:
        return "is not an address of HTTP"
    if parts.username is not None or parts.password is not None or parts.fragment:
        return "holds a user or a fragment"
    return ""
