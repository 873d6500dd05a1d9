"""Own the section ``gateway`` of the configuration."""

from __future__ import annotations

from typing import Self

from pydantic import Field, field_validator, model_validator

from collectors.gateway.formats import AUTO, FormatChoice
from collectors.gateway.tenants.configuration import TenantSection
from fairclock.config import FilePath, Listening, Section, refuse
from fairclock.errors import ConfigurationError

_NGINX = "nginx"


class SyslogSection(Section):
    """Where nginx's ``access_log syslog:`` sends its lines."""

    udp: Listening = "off"
    """Where datagrams are received, or off."""

    tcp: Listening = "off"
    """Where connections are accepted, or off."""


class GatewaySection(Section):
    """Where the gateway's log comes from."""

    files: tuple[FilePath, ...] = Field(default=(), examples=[["/var/log/nginx/fairclock.log"]])
    """Log files that are followed; names may hold * and ?."""

    source: str = "gateway"
    """What the lines are said to come from."""

    format: str = Field(default=AUTO, examples=["envoy-json"])
    """How the log is written: auto recognises it, file by file; else a format's name."""

    log_format: str | None = Field(
        default=None, examples=['$msec $status $request_time "$request" $upstream_addr']
    )
    """The text of nginx's log_format, or the directive, where it is one of your own."""

    tenants: TenantSection = TenantSection()
    """Whose requests they are, where the log does not say."""

    syslog: SyslogSection = SyslogSection()
    """Lines received over the network."""

    @field_validator("format")
    @classmethod
    def _is_known(cls, value: str) -> str:
        return _tried(value, value)

    @field_validator("log_format")
    @classmethod
    def _is_unambiguous(cls, value: str | None) -> str | None:
        return value if value is None else _tried(value, f"{_NGINX}:{value}")

    @property
    def full_format(self) -> str:
        """Return the format with the log_format that belongs to it."""
        return self.format if self.log_format is None else f"{_NGINX}:{self.log_format}"

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if self.log_format is not None and self.format not in {AUTO, _NGINX}:
            raise refuse(f"log_format goes with nginx, not with {self.format}", f"write format: {_NGINX}")
        if self.log_format is None and self.format == _NGINX:
            raise refuse(
                "format nginx needs the log_format", "give the text of your log_format as log_format"
            )
        return self


def _tried(value: str, name: str) -> str:
    try:
        FormatChoice(name)
    except ConfigurationError as error:
        raise refuse(error.problem, error.remedy or "correct it") from error
    return value
