"""Own the section ``mail`` of the configuration: the server that mail goes through."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from fairclock.config import FilePath, Section, refuse

_ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,253}[A-Za-z0-9])?"
)
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,253}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LARGEST_PORT = 65_535


def address_problem(address: str) -> str:
    """Return why an address cannot be written to; an empty string where it can."""
    return "" if _ADDRESS.fullmatch(address) else "is no address of mail"


class MailSection(Section):
    """The server that mail goes through."""

    host: str | None = Field(default=None, examples=["smtp.example.com"])
    """Its name."""

    port: int = Field(default=587, ge=1, le=_LARGEST_PORT)
    """Its port."""

    tls: Literal["starttls", "tls", "none"] = "starttls"
    """How it is spoken to: TLS after a greeting, TLS from the first byte, or without; none is refused with a user."""

    ca: FilePath | None = Field(default=None, examples=["/etc/fairclock/ca.pem"])
    """The certificates (PEM) by which it is known, in place of the system's."""

    user: str | None = Field(default=None, examples=["fairclock"])
    """By which name to log in; without one nobody logs in."""

    password_env: str | None = Field(default=None, examples=["FAIRCLOCK_MAIL_PASSWORD"])
    """The variable of the environment that holds the password."""

    password_file: FilePath | None = None
    """The file that holds it."""

    sender: str | None = Field(default=None, examples=["fairclock@example.com"])
    """From whom mail is."""

    @field_validator("host")
    @classmethod
    def _is_a_host(cls, host: str | None) -> str | None:
        if host is not None and not _HOST.fullmatch(host):
            raise refuse("is no name of a host", "write smtp.example.com, the port under port")
        return host

    @field_validator("sender")
    @classmethod
    def _is_an_address(cls, sender: str | None) -> str | None:
        if sender is not None and (problem := address_problem(sender)):
            raise refuse(problem, "write name@host")
        return sender

    @field_validator("password_env")
    @classmethod
    def _is_a_variable(cls, name: str | None) -> str | None:
        if name is not None and not _VARIABLE.fullmatch(name):
            # somebody may have written the password itself here
            raise refuse(
                "is not the name of a variable", "write the name, and the password there", secret=True
            )
        return name

    @model_validator(mode="after")
    def _can_be_used(self) -> Self:
        passwords = [each for each in (self.password_env, self.password_file) if each is not None]
        if (self.user is None) != (not passwords) or len(passwords) > 1:
            raise refuse(
                "needs user with one of password_env and password_file, or none of them", "write both"
            )
        if self.user is not None and self.tls == "none":
            raise refuse("would send the password without TLS", "write tls: starttls")
        if (self.host is None) != (self.sender is None):
            raise refuse("needs both host and sender, or none of them", "write the one that is missing")
        return self
