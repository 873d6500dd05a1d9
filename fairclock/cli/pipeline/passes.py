"""Own the passes of the evaluator in ``up``: steps in a fixed order, of which one that fails stops no other."""

from __future__ import annotations

import logging
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from exporters.prometheus import Figure
from fairclock.cli.pipeline.trying import Tried, Voice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager
    from datetime import datetime
    from threading import Event

    from opentelemetry.trace import Tracer

_VOICE = Voice(
    log=logging.getLogger(__name__), whose="evaluator", failing="failed, and the next pass tries again"
)


class Step(Protocol):
    """One thing that a pass does; whatever it raises is said and counted, and the next pass tries it again."""

    def step(self, now: datetime) -> None:
        """Do what is due at `now`."""


@runtime_checkable
class WithFigures(Protocol):
    """A step that has something to tell ``/metrics``."""

    def figures(self) -> Iterable[Figure]:
        """Yield its figures; asked from another thread."""


@dataclass(slots=True, kw_only=True)
class _Registered(Tried):
    step: Step


@dataclass(slots=True)
class Passes:
    """The steps in their order, and how each fared."""

    _steps: list[_Registered] = field(default_factory=list)
    _passes: int = 0
    _tracer: Tracer | None = None

    def trace_with(self, tracer: Tracer) -> None:
        """Tell each step to `tracer` as a span from now on."""
        self._tracer = tracer

    def add(self, name: str, step: Step) -> None:
        """Put `step` behind those that are there; `name` stands in the log and in ``/metrics``."""
        self._steps.append(_Registered(name=name, step=step))

    def run(self, now: datetime, stop: Event) -> None:
        """Run every step once, unless `stop` is set meanwhile."""
        for each in self._steps:
            if stop.is_set():
                return
            each.run(partial(self._step, each, now), _VOICE)
        self._passes += 1

    def _step(self, registered: _Registered, now: datetime) -> None:
        with self._traced(registered.name):
            registered.step.step(now)

    def _traced(self, name: str) -> AbstractContextManager[object]:
        return (
            nullcontext() if self._tracer is None else self._tracer.start_as_current_span(f"evaluator {name}")
        )

    def figures(self) -> Iterator[Figure]:
        """Yield how the steps fare, and what they tell themselves."""
        yield Figure(
            name="fairclock_evaluator_passes", about="Passes of the evaluator.", value=self._passes, kind="counter"
        )  # fmt: skip
        for each in self._steps:
            labels = {"step": each.name}
            yield Figure(
                name="fairclock_evaluator_failures", about="Failures of a step of the evaluator.",
                value=each.failures, labels=labels, kind="counter",
            )  # fmt: skip
            yield Figure(
                name="fairclock_evaluator_failing", about="1 where a step failed in the last pass, else 0.",
                value=bool(each.problem), labels=labels,
            )  # fmt: skip
            yield Figure(
                name="fairclock_evaluator_seconds", about="How long a step took in the last pass.",
                value=each.seconds, labels=labels,
            )  # fmt: skip
        for each in self._steps:
            if isinstance(each.step, WithFigures):
                yield from each.step.figures()
