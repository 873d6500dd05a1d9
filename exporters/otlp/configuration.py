"""Own the section ``otlp_export`` of the configuration."""

from __future__ import annotations

from pydantic import Field, field_validator

from exporters.webhooks.configuration import url_problem
from fairclock.config import FilePath, Seconds, Section, refuse


class OtlpExportSection(Section):
    """The tracing backend that requests are sent to as spans, and this program's own telemetry."""

    to: str | None = Field(default=None, examples=["http://127.0.0.1:4319"])
    """The address of an OTLP receiver over HTTP; /v1/traces and /v1/metrics are put behind it."""

    headers_file: FilePath | None = Field(default=None, examples=["/etc/fairclock/otlp-headers"])
    """The file with headers that it asks for, one "Name: value" a line; it is read again whenever it is used."""

    ca: FilePath | None = Field(default=None, examples=["/etc/fairclock/ca.pem"])
    """The certificates (PEM) by which it is known, in place of the system's."""

    requests: bool = True
    """Whether requests are sent, each taken apart into gateway, queue, prefill and decode."""

    telemetry: bool = True
    """Whether this program sends what it does itself: passes of the evaluator as spans, its figures as metrics."""

    service: str = "llm-gateway"
    """The service that the requests' spans are said to be of."""

    one_in: int = Field(default=1, ge=1)
    """One trace of so many is sent: 1 is all of them. Who samples by the trace id chooses the same ones."""

    settle: Seconds = Field(default="30s", validate_default=True)
    """How long a request is waited with, so that the engine's side of it has come."""

    reach: Seconds = Field(default="1h", validate_default=True)
    """How old a request may be when it comes; one that is older is counted and not sent."""

    timeout: Seconds = Field(default="10s", validate_default=True)
    """How long an answer is waited for."""

    @field_validator("to")
    @classmethod
    def _is_a_url(cls, to: str | None) -> str | None:
        if to is not None and (problem := url_problem(to)):
            raise refuse(problem, "write http://host:4318", secret=True)
        return None if to is None else to.rstrip("/")
