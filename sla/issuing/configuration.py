"""Own the section ``sla.seals`` of the configuration: who is sent the seals of days."""

from __future__ import annotations

from typing import Self

from pydantic import Field, field_validator, model_validator

from exporters.mail.configuration import address_problem
from exporters.webhooks.configuration import PlaceSection
from fairclock.config import Section, refuse


class SealReceiverSection(PlaceSection):
    """One place that seals are sent to: an address of HTTP, or of mail."""

    mail: tuple[str, ...] = ()
    """The addresses that a mail goes to, by the server under `mail`."""

    @field_validator("mail")
    @classmethod
    def _are_addresses(cls, addresses: tuple[str, ...]) -> tuple[str, ...]:
        for each in addresses:
            if problem := address_problem(each):
                raise refuse(problem, "write name@host")
        return addresses

    @model_validator(mode="after")
    def _is_one_place(self) -> Self:
        urls = self._urls()
        if len(urls) + bool(self.mail) != 1:
            raise refuse("needs one of mail, url, url_env and url_file", "write where it is")
        if urls:
            self._one_secret(is_needed=True)
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
