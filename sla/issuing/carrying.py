"""Own how seals of days reach their receivers: each at least once, in order, tried again for a week.

What became of every attempt is in the store, so a restart repeats nothing that was taken.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Protocol

from exporters.back_off import retry_seconds
from exporters.mail.posting import Attachment, Mail, MailPoster
from exporters.prometheus import Figure
from exporters.webhooks.credentials import Secret, SecretSource
from exporters.webhooks.event import derived_id
from exporters.webhooks.formats.format import JSON_TYPE, Outcome, by_status
from exporters.webhooks.formats.generic import signed_headers
from exporters.webhooks.posting import Poster, Request
from fairclock.errors import ConfigurationError
from fairclock.store.issued_reports import DaySealRow, day_seal_content
from fairclock.store.seal_deliveries import (
    DELIVERED,
    FAILED,
    SealDelivery,
    keep_seal_deliveries,
    last_seal_deliveries,
)
from sla.issuing.day_seals import file_name
from sla.issuing.noticing import DayChains
from sla.issuing.wording import mail_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from exporters.mail.configuration import MailSection
    from exporters.webhooks.configuration import WebhooksSection
    from fairclock.store import Store
    from sla.issuing.configuration import SealReceiverSection, SealsSection

SCHEMA = "fairclock.day-seals/1"
GIVE_UP = timedelta(days=7)
_LOG = logging.getLogger(__name__)
_MOST_A_MESSAGE = 31
_FIRST_RETRY_SECONDS = 60.0
_LAST_RETRY_SECONDS = 3_600.0
_PROBLEM_CHARACTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """One seal as it is sent."""

    row: DaySealRow
    content: bytes

    @property
    def file(self) -> str:
        """Return its name as a file."""
        return file_name(self.row.contract, self.row.day, self.row.revision)


class Receiver(Protocol):
    """Somebody who is sent seals."""

    @property
    def section(self) -> SealReceiverSection:
        """Return what is configured of it."""

    def send(self, seals: Sequence[Sealed], *, message_id: str, now: datetime) -> str:
        """Try once; return why it was not taken, an empty string where it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookReceiver:
    """An address that seals are posted to, signed as alert messages are."""

    section: SealReceiverSection
    poster: Poster
    environment: Mapping[str, str]

    def send(self, seals: Sequence[Sealed], *, message_id: str, now: datetime) -> str:
        """Post them as one message."""
        section = self.section
        try:
            url = (
                Secret(section.url)
                if section.url is not None
                else SecretSource(variable=section.url_env, file=section.url_file).read(self.environment)
            )
            secret = SecretSource(variable=section.secret_env, file=section.secret_file).read(
                self.environment
            )
        except ConfigurationError as error:
            return str(error)
        body = json.dumps(_tree(seals, section.name, message_id), ensure_ascii=False).encode()
        headers = {
            "Content-Type": JSON_TYPE,
            "Fairclock-Message-Id": message_id,
            **signed_headers(body, secret, now=now),
        }
        response = self.poster.post(Request(url=url, body=body, headers=headers))
        verdict = by_status(response)
        return "" if verdict.outcome is Outcome.TAKEN else verdict.problem


@dataclass(frozen=True, slots=True, kw_only=True)
class MailReceiver:
    """Addresses of mail; each seal is a file of the mail, byte for byte."""

    section: SealReceiverSection
    poster: MailPoster

    def send(self, seals: Sequence[Sealed], *, message_id: str, now: datetime) -> str:
        """Hand over one mail."""
        subject, text = mail_text([each.row for each in seals], self.section.language)
        mail = Mail(
            to=self.section.mail,
            subject=subject,
            text=text,
            message_id=message_id,
            attachments=[Attachment(name=each.file, content=each.content) for each in seals],
        )
        return self.poster.post(mail, now=now)


def receivers_of(
    seals: SealsSection,
    mail: MailSection,
    webhooks: WebhooksSection,
    *,
    environment: Mapping[str, str],
    now: Callable[[], datetime],
) -> list[Receiver]:
    """Return the configured receivers; raises ConfigurationError where certificates cannot be used."""
    if any(each.mail for each in seals.receivers) and mail.host is None:
        raise ConfigurationError(
            "mail.host", "is missing, and seals are to go by mail", remedy="write mail.host and mail.sender"
        )
    poster = Poster(allowed=webhooks.allow_internal, ca=webhooks.ca, now=now)
    server = MailPoster(mail, environment=environment)
    return [
        MailReceiver(section=each, poster=server)
        if each.mail
        else WebhookReceiver(section=each, poster=poster, environment=environment)
        for each in seals.receivers
    ]


@dataclass(slots=True, kw_only=True)
class Carrier:
    """Send every seal of the last week to whoever is to have it; `random` returns numbers in [0, 1)."""

    receivers: Sequence[Receiver]
    random: Callable[[], float]
    _chains: DayChains = field(default_factory=DayChains)
    _failing: dict[str, bool] = field(default_factory=dict)

    def carry(self, store: Store, now: datetime) -> int:
        """Try once what is due at `now`; return how many seals were taken."""
        chains = self._chains.current(store, store.watermark())
        known = last_seal_deliveries(store)
        taken = 0
        for receiver in self.receivers:
            for contract, chain in chains.items():
                if any(fnmatchcase(contract, each) for each in receiver.section.contracts):
                    due = _due(receiver.section.name, chain.rows, known, now)
                    taken += self._try(store, receiver, due, known, now) if due else 0
        return taken

    def figures(self) -> Iterator[Figure]:
        """Yield which receivers did not take the last message."""
        for name, is_failing in list(self._failing.items()):
            yield Figure(
                name="fairclock_day_seals_failing", about="1 where a receiver of seals did not take the last message.",
                value=is_failing, labels={"receiver": name},
            )  # fmt: skip

    def _try(
        self,
        store: Store,
        receiver: Receiver,
        due: Sequence[DaySealRow],
        known: Mapping[tuple[str, str, str], SealDelivery],
        now: datetime,
    ) -> int:
        name = receiver.section.name
        seals = [
            Sealed(row=row, content=content)
            for row in due
            if (content := day_seal_content(store, row.contract, row.sha256)) is not None
        ]
        problem = receiver.send(
            seals, message_id=derived_id("msg", name, *(row.sha256 for row in due)), now=now
        )
        self._failing[name] = bool(problem)
        if problem:
            _LOG.warning("seals of %s do not reach %s: %s", due[0].contract, name, problem)
        attempts = [
            before.attempt + 1 if (before := known.get((name, row.contract, row.sha256))) else 1
            for row in due
        ]
        pause = timedelta(
            seconds=retry_seconds(
                max(attempts),
                first_seconds=_FIRST_RETRY_SECONDS,
                most_seconds=_LAST_RETRY_SECONDS,
                random=self.random,
            )
        )
        keep_seal_deliveries(
            store,
            [
                SealDelivery(
                    destination=name,
                    contract=row.contract,
                    sequence=row.sequence,
                    sha256=row.sha256,
                    attempt=attempt,
                    state=FAILED if problem else DELIVERED,
                    problem=problem[:_PROBLEM_CHARACTERS],
                    retry_at=now + pause if problem else None,
                    stored_at=now,
                )
                for row, attempt in zip(due, attempts, strict=True)
            ],
        )
        return 0 if problem else len(due)


def _due(
    name: str,
    rows: Sequence[DaySealRow],
    known: Mapping[tuple[str, str, str], SealDelivery],
    now: datetime,
) -> list[DaySealRow]:
    """Return the next seals for a receiver, in order; none while the first of them waits to be tried again."""
    left = []
    for row in rows:
        last = known.get((name, row.contract, row.sha256))
        if row.stored_at <= now - GIVE_UP or (last is not None and last.state == DELIVERED):
            continue
        if last is not None and last.retry_at is not None and now < last.retry_at:
            break
        left.append(row)
    return left[:_MOST_A_MESSAGE]


def _tree(seals: Sequence[Sealed], destination: str, message_id: str) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "message_id": message_id,
        "destination": destination,
        "contract": seals[0].row.contract,
        "seals": [
            {
                "file": each.file,
                "day": each.row.day,
                "revision": each.row.revision,
                "sequence": each.row.sequence,
                "sha256": each.row.sha256,
                "content": each.content.decode(),
            }
            for each in seals
        ],
    }
