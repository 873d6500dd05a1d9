"""Own the section ``metrics`` of the configuration."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from pydantic import Field, field_validator

from fairclock.config import FilePath, Seconds, Section, refuse

AliasName = Literal["deepseek_inference_queue_duration_seconds", "vllm_kv_cache_utilization_ratio"]

DEFAULT_EDGES = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
DEFAULT_TOKEN_EDGES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1.0)


class MetricsSection(Section):
    """What Prometheus is told at ``/metrics``."""

    every: Seconds = Field(default="15s", validate_default=True)
    """How often what comes from the store is worked out anew; a scrape is answered with the last that was."""

    token_file: FilePath | None = Field(default=None, examples=["/etc/fairclock/metrics-token"])
    """The file with the token that a scrape must show as its bearer; without one, tenants and money are told on loopback only."""

    edges: tuple[Seconds, ...] = Field(default=DEFAULT_EDGES, min_length=1, max_length=64)
    """The edges of histograms, in seconds; every threshold of a contract is one as well."""

    token_edges: tuple[Seconds, ...] = Field(default=DEFAULT_TOKEN_EDGES, min_length=1, max_length=64)
    """The edges of the histogram of the time per output token."""

    max_tenants: int = Field(default=2000, ge=1)
    """How many tenants have series of their own; the others share those of the tenant __other__."""

    max_models: int = Field(default=50, ge=1)
    """How many models have series of their own; the others share those of the model __other__."""

    max_series: int = Field(default=4000, ge=1)
    """How many pairs of tenant and model have; this bounds the size of an answer."""

    max_thresholds: int = Field(default=16, ge=1)
    """How many thresholds of contracts are edges for every tenant; where there are more, each tenant has its own contracts' only."""

    aliases: tuple[AliasName, ...] = Field(
        default=(), examples=[["deepseek_inference_queue_duration_seconds"]]
    )
    """The names by which others know two of the series; they are published in addition."""

    stale_after: Seconds = Field(default="60s", validate_default=True)
    """After how long without a reading what an engine or a GPU said is published no more."""

    @field_validator("edges", "token_edges")
    @classmethod
    def _ascend(cls, edges: tuple[float, ...]) -> tuple[float, ...]:
        if edges[0] <= 0 or any(later <= earlier for earlier, later in pairwise(edges)):
            raise refuse("are no edges", "write durations above 0, each longer than the one before")
        return edges
