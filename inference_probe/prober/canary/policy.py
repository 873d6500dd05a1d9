"""Own the policy file of a canary: what it may cost, and how its share grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, model_validator

from fairclock.config import Section, load_configuration, refuse
from fairclock.errors import UsageError
from inference_probe.prober.engine_readings import MEMORY

if TYPE_CHECKING:
    from pathlib import Path


class ThresholdsSection(Section):
    """From where on the new version is worse than may be."""

    mean_ratio: float = Field(default=1.1, gt=0)
    """How long answers may take on average, against the old version's mean."""

    error_rate_points: float = Field(default=1.0, ge=0, le=100)
    """By how many points of a hundred its failures may exceed the old version's."""

    memory_ratio: float | None = Field(default=1.2, gt=0)
    """How much memory it may have, against the old version's; empty where memory is not looked at."""


class StepsSection(Section):
    """How its share grows."""

    first_percent: float = Field(default=5, gt=0, le=100)
    """The first share of the traffic."""

    factor: float = Field(default=2, gt=1)
    """By how much a step grows the share."""

    every_seconds: float = Field(default=1800, gt=0)
    """How long a step lasts."""


class CanaryPolicy(Section):
    """A policy file."""

    clock: Literal["end_to_end", "time_to_first_token"] = "end_to_end"
    """Whose mean is compared; from the intended start."""

    thresholds: ThresholdsSection = ThresholdsSection()
    steps: StepsSection = StepsSection()

    least_probes: int = Field(default=100, ge=1)
    """How many probes of each version have to say something before a step is decided."""

    most_holds: int = Field(default=3, ge=0)
    """How often a step may be done again for want of measurements before the comparison is given up."""

    memory_metric: str = MEMORY
    """Which metric of an engine's /metrics is its memory."""

    @model_validator(mode="after")
    def _names_a_metric(self) -> Self:
        if self.thresholds.memory_ratio is not None and not self.memory_metric:
            raise refuse("compares memory without a metric", f"write memory_metric: {MEMORY}")
        return self

    def shares(self) -> list[float]:
        """Return the shares in per cent, from the first to 100."""
        found = [self.steps.first_percent]
        while found[-1] < 100:  # noqa: PLR2004 - per cent
            found.append(min(100.0, found[-1] * self.steps.factor))
        return found


def load_policy(path: Path | None) -> CanaryPolicy:
    """Return the policy in a file, or the defaults; ConfigurationError names every problem of it."""
    if path is not None and not path.is_file():
        raise UsageError("--policy", "there is no such file", found=str(path), remedy="correct its name")
    return load_configuration(path, CanaryPolicy)
