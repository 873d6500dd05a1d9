"""Own one destination: its rules, its words, its secrets, and one attempt to reach it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from exporters.webhooks.configuration import PAGERDUTY_URL
from exporters.webhooks.credentials import Secret, SecretSource
from exporters.webhooks.formats.format import Outcome, Outgoing
from exporters.webhooks.formats.registry import FORMATS
from exporters.webhooks.planning import Rules
from exporters.webhooks.posting import Poster
from exporters.webhooks.quiet_hours import QuietHours
from exporters.webhooks.rendering import Renderer
from fairclock.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from exporters.webhooks.configuration import DestinationSection, WebhooksSection
    from exporters.webhooks.event import AlertEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What became of one attempt; `status` 0 where there was no answer."""

    outcome: Outcome
    status: int = 0
    problem: str = ""
    retry_after_seconds: float | None = None


class Destination:
    """A configured place; `environment` is asked for its secrets at each attempt, so they may change."""

    def __init__(
        self,
        section: DestinationSection,
        webhooks: WebhooksSection,
        *,
        poster: Poster,
        environment: Mapping[str, str],
    ) -> None:
        self.name = section.name
        self.format = FORMATS[section.format]
        self._section = section
        self._link = webhooks.link
        self._runbooks = webhooks.runbooks
        self._poster = poster
        self._environment = environment
        self._renderer = Renderer(
            language=section.language,
            escape=self.format.escape,
            zone=webhooks.time_zone,
            own=section.templates,
        )
        self.rules = _rules(section, webhooks, groups=self.format.takes_groups)

    def send(
        self, events: Sequence[AlertEvent], *, message_id: str, delivery_id: str, now: datetime
    ) -> Attempt:
        """Try once to send `events` as one message; never raises for what the other side does."""
        try:
            url, secret = self._url(), self._secret()
        except ConfigurationError as error:
            return Attempt(outcome=Outcome.LATER, problem=str(error))
        request = self.format.compose(
            Outgoing(
                url=url,
                secret=secret,
                destination=self.name,
                message_id=message_id,
                delivery_id=delivery_id,
                events=tuple(events),
                text=self._renderer.render(events, link=self._link, runbooks=self._runbooks),
                language=self._section.language,
                link=self._link,
                runbooks=self._runbooks,
                now=now,
            )
        )
        response = self._poster.post(request)
        verdict = self.format.judge(response)
        return Attempt(
            outcome=verdict.outcome,
            status=response.status,
            problem=verdict.problem,
            retry_after_seconds=response.retry_after_seconds,
        )

    def _url(self) -> Secret:
        section = self._section
        if section.url is not None:
            return Secret(section.url)
        if section.url_env is None and section.url_file is None:
            return Secret(PAGERDUTY_URL)
        return SecretSource(variable=section.url_env, file=section.url_file).read(self._environment)

    def _secret(self) -> Secret | None:
        section = self._section
        if section.secret_env is None and section.secret_file is None:
            return None
        return SecretSource(variable=section.secret_env, file=section.secret_file).read(self._environment)


def destinations(
    webhooks: WebhooksSection, *, environment: Mapping[str, str], now: Callable[[], datetime]
) -> list[Destination]:
    """Return the configured destinations; raises `ConfigurationError` where ``ca`` cannot be used."""
    poster = Poster(allowed=webhooks.allow_internal, ca=webhooks.ca, now=now)
    return [
        Destination(section, webhooks, poster=poster, environment=environment)
        for section in webhooks.destinations
    ]


def _rules(section: DestinationSection, webhooks: WebhooksSection, *, groups: bool) -> Rules:
    quiet = webhooks.quiet_hours
    return Rules(
        name=section.name,
        wants=lambda event: (
            event.severity in section.severities
            and any(fnmatchcase(event.contract_id, pattern) for pattern in section.contracts)
        ),
        groups=groups,
        group_wait=timedelta(seconds=webhooks.group_wait),
        hold_down=timedelta(seconds=webhooks.hold_down),
        give_up=timedelta(seconds=webhooks.give_up),
        quiet_hours=None
        if quiet.begin is None or quiet.end is None
        else QuietHours(
            begin=quiet.begin,
            end=quiet.end,
            zone=quiet.time_zone,
            let_through=frozenset(quiet.let_through),
        ),
    )
