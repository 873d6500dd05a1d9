"""Own the section ``billing.gpu_time`` of the configuration: engines' machines, and how their time is divided."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003 - pydantic reads it
from decimal import Decimal  # noqa: TC003 - pydantic reads it
from fractions import Fraction
from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from billing.cost_book.machines import ALWAYS_FROM_US, ALWAYS_TO_US, EngineMachine, overlapping
from billing.cost_book.settings import CostBookSettings, Division
from fairclock.config import Section, refuse
from fairclock.model import to_us


class EngineSection(Section):
    """One engine and its machine, for as long as that is its own."""

    engine: str = Field(min_length=1)
    """What it calls itself in spans and in the plugin's records (service.instance.id)."""

    machine: str = ""
    """What its GPUs are called in the price book."""

    gpus: str = "1"
    """How many GPUs it has, over all its ranks; of a MIG slice the fraction, such as 1/7."""

    max_num_seqs: int | None = Field(default=None, ge=1, le=1 << 20)
    """How many sequences run at most, over all its ranks; shares by slots need it."""

    upstreams: tuple[str, ...] = ()
    """Its addresses as the gateway logs them, such as 10.0.0.1:8000."""

    target: str | None = None
    """What its metrics are called where they are scraped (else as the engine)."""

    gpu_ids: tuple[str, ...] = ()
    """The identifiers of its GPUs or MIG instances in the GPU collector's rows."""

    kv_bytes_per_token: int | None = Field(default=None, ge=1)
    """How many bytes of its GPUs' memory a token takes in the KV cache, over all of them."""

    since: datetime | None = None
    """From when on it has this machine (else always)."""

    until: datetime | None = None
    """Until when it has this machine (else always)."""

    @field_validator("gpus", mode="before")
    @classmethod
    def _is_a_number(cls, gpus: Any) -> Any:
        text = str(gpus).strip()
        try:
            found = Fraction(text)
        except (ValueError, ZeroDivisionError):
            raise refuse("is not a number of GPUs", "write 4, or 1/7 for a MIG slice") from None
        if found <= 0 or found > 1 << 20 or found.denominator > 1 << 20:
            raise refuse("is not a possible number of GPUs", "write 4, or 1/7 for a MIG slice")
        return text

    @field_validator("since", "until")
    @classmethod
    def _has_a_zone(cls, instant: datetime | None) -> datetime | None:
        if instant is not None and instant.tzinfo is None:
            raise refuse("has no zone", "write 2026-10-01T00:00:00Z")
        return instant

    def machine_known(self) -> EngineMachine:
        """Return it as the cost book takes it."""
        return EngineMachine(
            engine=self.engine,
            machine=self.machine,
            gpus=Fraction(self.gpus),
            max_num_seqs=self.max_num_seqs,
            upstreams=self.upstreams,
            target=self.target,
            gpu_ids=self.gpu_ids,
            kv_bytes_a_token=self.kv_bytes_per_token,
            from_us=ALWAYS_FROM_US if self.since is None else to_us(self.since),
            to_us=ALWAYS_TO_US if self.until is None else to_us(self.until),
        )


class GpuTimeSection(Section):
    """Whose the time of GPUs is."""

    division: Division = "equal"
    """Among those that run at one time: equal, tokens (by prompt and completion), or per_slot (1 / max_num_seqs each)."""

    ceiling_gpu_seconds: Decimal | None = Field(default=None, ge=0, examples=[600])
    """How many GPU-seconds one request is given at most; what it used beyond that is nobody's."""

    left_requests_own_time: bool = False
    """Whether a request that its client left, of which vLLM says nothing, is given its time as the gateway saw it."""

    probe_tenants: tuple[str, ...] = ("fairclock-probe",)
    """The tenants that probe: what they use is a line of its own."""

    engines: tuple[EngineSection, ...] = Field(
        default=(), examples=[[{"engine": "engine-1", "machine": "NVIDIA H200", "gpus": 4}]]
    )
    """The engines' machines; an engine that is not here is known by what the plugin inside it says."""

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if (both := overlapping(each.machine_known() for each in self.engines)) is not None:
            raise refuse(f"gives {both[0].engine} two machines at one time", "correct since and until")
        for each in self.engines:
            if each.since is not None and each.until is not None and each.until <= each.since:
                raise refuse(f"ends the machine of {each.engine} before it begins", "correct since and until")
        if self.division == "per_slot" and any(each.max_num_seqs is None for each in self.engines):
            raise refuse("divides by slots without all engines' max_num_seqs", "write max_num_seqs: 256")
        return self

    def settings(self) -> CostBookSettings:
        """Return what the cost book is kept by."""
        ceiling = self.ceiling_gpu_seconds
        return CostBookSettings(
            machines=tuple(each.machine_known() for each in self.engines),
            division=self.division,
            ceiling_seconds=None if ceiling is None else Fraction(ceiling),
            owns_left=self.left_requests_own_time,
            probe_tenants=frozenset(self.probe_tenants),
        )
