"""Own the configuration as a whole: the sections of all packages, and the command line's own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from billing.configuration import BillingSection
from collectors.gateway.configuration import GatewaySection
from collectors.gpu.configuration import GpuSection
from collectors.otlp.configuration import OtlpSection
from collectors.vllm_metrics.configuration import VllmSection
from exporters.forwarding.configuration import ForwardSection
from exporters.mail.configuration import MailSection
from exporters.otlp.configuration import OtlpExportSection
from exporters.prometheus.configuration import MetricsSection
from exporters.spool.configuration import SpoolSection
from exporters.webhooks.configuration import WebhooksSection
from fairclock.config import FilePath, Listening, Section, find_file, load_configuration, refuse
from fairclock.console.configuration import ConsoleSection
from fairclock.store.configuration import StoreSection
from inference_probe.configuration import ProbeSection
from sla.configuration import SlaSection
from sla.reports.configuration import ReportsSection


class HttpSection(Section):
    """Where ``fairclock up`` answers over HTTP."""

    address: Listening = "127.0.0.1:8780"
    """Where sidecars, health checks and Prometheus are answered, or off."""

    certificate: FilePath | None = Field(default=None, examples=["/etc/fairclock/up.pem"])
    """The certificate (PEM, with its chain) that makes it HTTPS."""

    key: FilePath | None = Field(default=None, examples=["/etc/fairclock/up.key"])
    """The key of the certificate (PEM)."""

    @model_validator(mode="after")
    def _both_or_none(self) -> Self:
        if (self.certificate is None) != (self.key is None):
            raise refuse("needs both certificate and key, or none of them", "write the one that is missing")
        return self


class LogSection(Section):
    """What long-running commands say on standard error."""

    format: Literal["text", "json"] = "text"
    """One line each: key=value pairs, or a JSON object."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """From which level on."""


class Configuration(Section):
    """What ``fairclock.yaml`` may hold."""

    store: StoreSection = StoreSection()
    spool: SpoolSection = SpoolSection()
    otlp: OtlpSection = OtlpSection()
    gateway: GatewaySection = GatewaySection()
    vllm: VllmSection = VllmSection()
    gpu: GpuSection = GpuSection()
    forward: ForwardSection = ForwardSection()
    sla: SlaSection = SlaSection()
    reports: ReportsSection = ReportsSection()
    billing: BillingSection = BillingSection()
    probe: ProbeSection = ProbeSection()
    webhooks: WebhooksSection = WebhooksSection()
    mail: MailSection = MailSection()
    http: HttpSection = HttpSection()
    metrics: MetricsSection = MetricsSection()
    otlp_export: OtlpExportSection = OtlpExportSection()
    console: ConsoleSection = ConsoleSection()
    log: LogSection = LogSection()


def configuration(named: Path | None) -> Configuration:
    """Return the configuration in the file that ``--config`` names, else in the one that is found, else defaults."""
    return load_configuration(find_file(named, environment=os.environ, folder=Path()), Configuration)
