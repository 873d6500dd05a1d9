"""Own the section ``gpu`` of the configuration."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from fairclock.config import Seconds, Section, refuse

GpuOrigin = Literal["off", "nvml", "dcgm", "nvidia-smi", "demo"]


class GpuSection(Section):
    """What is measured of GPUs."""

    source: GpuOrigin = "off"
    """Who is asked: nvml (the driver's library), dcgm (exporters), nvidia-smi, demo (an invented GPU), or off."""

    expect: int = Field(default=1, ge=0, le=1024, examples=[8])
    """How many GPUs there should be; with fewer, /readyz fails."""

    samples_per_second: int = Field(default=5, ge=1, le=10)
    """How often each GPU is read through NVML or nvidia-smi; a row holds mean, min and max of a second."""

    call_timeout: Seconds = Field(default=2.0, gt=0, le=600)
    """After how long a call of NVML that has not returned is said to hang."""

    urls: tuple[str, ...] = Field(default=(), examples=[["http://node-1:9400/metrics"]])
    """The DCGM exporters that are scraped."""

    interval: Seconds = Field(default=10.0, ge=1, le=3600)
    """How often DCGM exporters are scraped."""

    command: str = "nvidia-smi"
    """The program that is run for nvidia-smi."""

    name: str = "gpu"
    """What the rows are said to come from."""

    host: str | None = Field(default=None, examples=["node-1"])
    """What this machine is called in the rows (else its own name)."""

    @model_validator(mode="after")
    def _knows_where(self) -> Self:
        if self.source == "dcgm" and not self.urls:
            raise refuse(
                "dcgm needs the exporters' addresses", "write gpu.urls: [http://node-1:9400/metrics]"
            )
        if any(not url.startswith(("http://", "https://")) for url in self.urls):
            raise refuse("gpu.urls holds what is no address", "write http://HOST:9400/metrics")
        return self
