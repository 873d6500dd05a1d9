"""Own the section ``otlp`` of the configuration."""

from __future__ import annotations

from fairclock.config import Listening, Section


class OtlpSection(Section):
    """Where vLLM's spans are received."""

    grpc: Listening = "127.0.0.1:4317"
    """Where OTLP over gRPC is received, or off."""

    http: Listening = "127.0.0.1:4318"
    """Where OTLP over HTTP is received, or off."""

    source: str = "otlp"
    """What the spans are said to come from."""
