"""Own the section ``sla`` of the configuration."""

from __future__ import annotations

from pydantic import Field

from fairclock.config import FilePath, Section
from sla.alerting.configuration import AlertsSection
from sla.issuing.configuration import SealsSection


class SlaSection(Section):
    """Which contracts are evaluated as their requests come in, and what is watched."""

    contracts: tuple[FilePath, ...] = Field(default=(), examples=[["contracts/acme-2026.yaml"]])
    """The contracts, a file each, or a folder with the versions of one."""

    alerts: AlertsSection = AlertsSection()

    seals: SealsSection = SealsSection()
