"""Own one mail: put together so that an attachment's bytes stay what they are, and handed to the server once."""

from __future__ import annotations

import smtplib
import ssl
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from email.utils import format_datetime
from typing import TYPE_CHECKING

from exporters.webhooks.credentials import SecretSource
from fairclock.config.credentials import trust_in
from fairclock.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from exporters.mail.configuration import MailSection

_TIMEOUT_SECONDS = 10.0
_SAID_CHARACTERS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that goes with a mail."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One mail; `message_id` is the same at every attempt, so that a receiver may tell a second copy."""

    to: tuple[str, ...]
    subject: str
    text: str
    message_id: str
    attachments: Sequence[Attachment] = ()


class MailPoster:
    """Hand mail to the configured server; the password is read at each attempt, so it may change."""

    def __init__(self, section: MailSection, *, environment: Mapping[str, str]) -> None:
        """Read the certificates of ``ca``; raises `ConfigurationError` where they cannot be used."""
        self._section = section
        self._environment = environment
        self._trust = trust_in(section.ca, remedy="name a PEM file")

    def post(self, mail: Mail, *, now: datetime) -> str:
        """Hand over one mail; return why it was not taken by all, an empty string where it was. Never raises for the server's sake."""
        section = self._section
        if section.host is None or section.sender is None:
            return "no server is configured: write mail.host and mail.sender"
        try:
            refused = self._hand_over(mail, section.host, section.sender, now)
        except ConfigurationError as error:
            return str(error)
        except (smtplib.SMTPException, OSError) as error:
            return _said(error)
        return f"the server takes no mail for {len(refused)} of the addresses" if refused else ""

    def _hand_over(self, mail: Mail, host: str, sender: str, now: datetime) -> Mapping[str, object]:
        """Return the addresses that the server does not take mail for, where it does for others."""
        section = self._section
        with self._connection(host) as server:
            if section.tls == "starttls":
                server.starttls(context=self._trust)
            if section.user is not None:
                source = SecretSource(variable=section.password_env, file=section.password_file)
                server.login(section.user, source.read(self._environment).reveal())
            return server.send_message(_message(mail, sender, now), sender, list(mail.to))

    def _connection(self, host: str) -> smtplib.SMTP:
        port = self._section.port
        name = host.strip("[]")
        if self._section.tls == "tls":
            return smtplib.SMTP_SSL(name, port, timeout=_TIMEOUT_SECONDS, context=self._trust)
        return smtplib.SMTP(name, port, timeout=_TIMEOUT_SECONDS)


def _message(mail: Mail, sender: str, now: datetime) -> EmailMessage:
    message = EmailMessage(policy=SMTP_POLICY)
    message["From"] = sender
    message["To"] = ", ".join(mail.to)
    message["Subject"] = " ".join(mail.subject.split())
    message["Date"] = format_datetime(now)
    message["Message-ID"] = f"<{mail.message_id}@{sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text, cte="base64")
    for each in mail.attachments:
        # as bytes, in base64: nothing on the way may end its lines otherwise
        message.add_attachment(
            each.content, maintype="application", subtype="json", filename=each.name, cte="base64"
        )
    return message


def _said(error: smtplib.SMTPException | OSError) -> str:
    """Return what went wrong in a few words, without anything that may hold a password."""
    if isinstance(error, smtplib.SMTPResponseException):
        text: str | bytes = error.smtp_error
        return f"the server answers {error.smtp_code} {_plain(text.decode(errors='replace') if isinstance(text, bytes) else text)}"
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return "the server takes mail for none of the addresses"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted ({error.verify_message})"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed ({error.reason})"
    # smtplib's own errors are errors of the system too, and some of them have words of their own
    if isinstance(error, smtplib.SMTPException):
        return _plain(" ".join(str(each) for each in error.args) or type(error).__name__)
    return _plain(error.strerror or type(error).__name__)


def _plain(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)[:_SAID_CHARACTERS]
