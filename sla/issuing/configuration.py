"""Own the section ``sla.seals`` of the configuration: who is sent the seals of days."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from exporters.mail.configuration import address_problem
from exporters.webhooks.configuration import url_problem
from fairclock.config import FilePath, Section, refuse

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class SealReceiverSection(Section):
    """One place that seals are sent to: an address of HTTP, or of mail."""

    name: str
    """What it is called in logs."""

    contracts: tuple[str, ...] = ("*",)
    """Of which contracts it is sent the seals; names may hold * and ?."""

    language: Literal["en", "zh"] = "en"
    """The language of the mail."""

    mail: tuple[str, ...] = ()
    """The addresses that a mail goes to, by the server under sla.seals.server."""

    url: str | None = Field(default=None, repr=False)
    """The address that the seals are posted to."""

    url_env: str | None = None
    """The variable of the environment that holds this address."""

    url_file: FilePath | None = None
    """The file that holds it."""

    secret_env: str | None = None
    """The variable that holds what the message is signed with."""

    secret_file: FilePath | None = None
    """The file that holds that."""

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise refuse("is no name", "write up to 64 letters, digits, dots and dashes")
        return name

    @field_validator("mail")
    @classmethod
    def _are_addresses(cls, addresses: tuple[str, ...]) -> tuple[str, ...]:
        for each in addresses:
            if problem := address_problem(each):
                raise refuse(problem, "write name@host")
        return addresses

    @field_validator("url")
    @classmethod
    def _is_a_url(cls, url: str | None) -> str | None:
        if url is not None and (problem := url_problem(url)):
            raise refuse(problem, "write https://host/path", secret=True)
        return url

    @model_validator(mode="after")
    def _is_one_place(self) -> Self:
        urls = [each for each in (self.url, self.url_env, self.url_file) if each is not None]
        secrets = [each for each in (self.secret_env, self.secret_file) if each is not None]
        if len(urls) + bool(self.mail) != 1:
            raise refuse("needs one of mail, url, url_env and url_file", "write where it is")
        if urls and len(secrets) != 1:
            raise refuse("needs one of secret_env and secret_file", "write where its secret is")
        return self


class SealsSection(Section):
    """Who is sent the seals of days as they are written."""

    receivers: tuple[SealReceiverSection, ...] = Field(
        default=(), examples=[[{"name": "acme", "contracts": ["acme-*"], "mail": ["sla@acme.example"]}]]
    )
    """Who is sent them, and how; docs/issuing.md explains the keys."""

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [each.name for each in self.receivers]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise refuse(f"two receivers are called {twice}", "give each a name of its own")
        return self
