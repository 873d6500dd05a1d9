"""Own the section ``gateway`` of the configuration."""

from __future__ import annotations

from pydantic import Field

from fairclock.config import FilePath, Listening, Section


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

    syslog: SyslogSection = SyslogSection()
    """Lines received over the network."""
