"""Own the passes of the evaluator in ``up``: steps in a fixed order, of which one that fails stops no other."""

from __future__ import annotations

import logging
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from exporters.prometheus import Figure
from fairclock.errors import FairclockError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager
    from datetime import datetime
    from threading import Event

    from opentelemetry.trace import Tracer

_LOG = logging.getLogger(__name__)


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
class _Registered:
    name: str
    step: Step
    failures: int = 0
    problem: str = ""
    seconds: float = 0.0


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
            begun = time.monotonic()
            try:
                with self._traced(each.name):
                    each.step.step(now)
            except FairclockError as error:
                _failed(each, str(error))
            # an error of one step is no reason to judge nothing at all
            except Exception as error:  # noqa: BLE001
                _failed(each, f"{type(error).__name__}: {error}", error)
            else:
                if each.problem:
                    _LOG.info("evaluator: %s works again", each.name)
                each.problem = ""
            each.seconds = time.monotonic() - begun
        self._passes += 1

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


def _failed(registered: _Registered, problem: str, error: Exception | None = None) -> None:
    """Count a failure, and say it once for as long as it is the same."""
    registered.failures += 1
    if problem != registered.problem:
        _LOG.warning(
            "evaluator: %s failed, and the next pass tries again: %s",
            registered.name,
            problem,
            exc_info=error,
        )
    registered.problem = problem
