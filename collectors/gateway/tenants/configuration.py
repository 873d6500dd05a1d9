"""Own the section ``gateway.tenants`` of the configuration."""

from __future__ import annotations

import re
from typing import Self

from pydantic import Field, model_validator

from fairclock.config import FilePath, Section, refuse


class RouteSection(Section):
    """Whose the requests of some paths are."""

    prefix: str | None = Field(default=None, examples=["/acme"])
    """The path and all below it."""

    matches: str | None = Field(default=None, examples=["^/t/([a-z]+)/"])
    """A regular expression that is found in the path."""

    tenant: str = Field(min_length=1, examples=["acme"])
    r"""The tenant; with `matches`, \1 stands for the first group."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.prefix is None) == (self.matches is None):
            raise refuse("needs either prefix or matches", "write one of them")
        if self.prefix is not None and not self.prefix.startswith("/"):
            raise refuse("prefix does not begin with a slash", "write /acme")
        if self.matches is not None:
            try:
                empty = re.compile(f"(?:{self.matches})|").fullmatch("")
                if empty is not None:
                    empty.expand(self.tenant)
            except (re.error, IndexError) as error:
                raise refuse(
                    f"is no regular expression, or tenant names a group that it lacks: {error}", "correct it"
                ) from error
        return self


class CertificateSection(Section):
    """Whose client certificate it is."""

    subject: str | None = Field(default=None, examples=["CN=acme,O=Acme Inc"])
    """The whole subject, as the gateway logs it."""

    common_name: str | None = Field(default=None, examples=["acme"])
    """The CN of a subject that is written with commas (RFC 2253)."""

    tenant: str = Field(min_length=1, examples=["acme"])
    """The tenant."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.subject is None) == (self.common_name is None):
            raise refuse("needs either subject or common_name", "write one of them")
        return self


class TenantSection(Section):
    """Whose requests they are, where the log does not say, or a key says better; the first that knows decides."""

    keys: FilePath | None = Field(default=None, examples=["/etc/fairclock/keys.yaml"])
    """A file with a line for each API key, `SHA-256 of the key: tenant`; read again when it changes."""

    certificates: tuple[CertificateSection, ...] = Field(
        default=(), examples=[[{"common_name": "acme", "tenant": "acme"}]]
    )
    """Subjects of client certificates, after the keys."""

    routes: tuple[RouteSection, ...] = Field(default=(), examples=[[{"prefix": "/acme", "tenant": "acme"}]])
    """Paths, after what the log itself says."""
