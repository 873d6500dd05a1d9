"""The steps of the evaluator: what one that fails does to the others, and how it is told."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from threading import Event

from exporters.prometheus import Figure
from fairclock.cli.pipeline.passes import Passes
from fairclock.errors import StoreUnreachable

NOW = datetime(2026, 11, 1, tzinfo=UTC)


class Step:
    """Notes that it ran, and raises what it is told."""

    def __init__(self, *outcomes: Exception | None) -> None:
        self.outcomes = list(outcomes)
        self.at: list[datetime] = []

    def step(self, now: datetime) -> None:
        self.at.append(now)
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if outcome is not None:
            raise outcome


class Telling(Step):
    def figures(self) -> list[Figure]:
        return [Figure(name="fairclock_told", about="Told.", value=7)]


def figures(passes: Passes) -> dict[tuple[str, ...], float]:
    return {(each.name, *dict(each.labels).values()): each.value for each in passes.figures()}


def test_a_step_that_fails_stops_no_other_and_is_tried_again(caplog):
    caplog.set_level(logging.INFO)
    away = StoreUnreachable("store", "nobody answers")
    first, second = Step(away, away, ValueError("seven"), None), Telling()
    passes = Passes()
    passes.add("slices", first)
    passes.add("alerts", second)
    for _ in range(3):
        passes.run(NOW, Event())
    said = figures(passes)
    assert said["fairclock_evaluator_failures", "slices"] == 3
    assert said["fairclock_evaluator_failing", "slices"] == 1
    assert said["fairclock_evaluator_failing", "alerts"] == 0
    assert (said["fairclock_evaluator_passes",], said["fairclock_told",]) == (3, 7)
    passes.run(NOW, Event())
    assert figures(passes)["fairclock_evaluator_failing", "slices"] == 0
    assert (len(first.at), len(second.at)) == (4, 4)
    assert [record.getMessage() for record in caplog.records] == [
        "evaluator: slices failed, and the next pass tries again: store: nobody answers",
        "evaluator: slices failed, and the next pass tries again: ValueError: seven",
        "evaluator: slices works again",
    ]


def test_steps_run_in_the_order_in_which_they_were_added():
    order = []

    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

        def step(self, now: datetime) -> None:
            order.append((self.name, now))

    passes = Passes()
    for name in ("slices", "incidents", "alerts"):
        passes.add(name, Named(name))
    passes.run(NOW, Event())
    assert order == [("slices", NOW), ("incidents", NOW), ("alerts", NOW)]


def test_a_pass_that_is_to_stop_begins_no_further_step():
    stop, last = Event(), Step()

    class Stopping:
        def step(self, now: datetime) -> None:
            del now
            stop.set()

    passes = Passes()
    passes.add("one", Stopping())
    passes.add("two", last)
    passes.run(NOW, stop)
    assert last.at == []
