"""Own the section ``forward`` of the configuration."""

from __future__ import annotations

from pydantic import Field, field_validator

from exporters.forwarding.url import check_url
from fairclock.config import FilePath, Section, refuse
from fairclock.errors import UsageError


class ForwardSection(Section):
    """Where a sidecar without a store sends what it collects."""

    to: str | None = Field(default=None, examples=["https://fairclock.example:8780"])
    """The address of ``fairclock up``: https://host:8780."""

    token_file: FilePath | None = Field(default=None, examples=["/etc/fairclock/token"])
    """The file that holds the token of this sidecar; it is read again whenever it is used."""

    ca: FilePath | None = Field(default=None, examples=["/etc/fairclock/ca.pem"])
    """The certificates (PEM) by which the other side is known, in place of the system's."""

    plain_http: bool = False
    """Whether the token may travel unencrypted to another machine."""

    @field_validator("to")
    @classmethod
    def _is_a_url(cls, to: str | None) -> str | None:
        try:
            return None if to is None else check_url(to, plain_http=True)
        except UsageError as error:
            raise refuse(error.problem, error.remedy or "") from None
