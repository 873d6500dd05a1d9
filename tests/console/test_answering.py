"""Questions are answered a few at a time, each with a limit, and what takes long is worked out aside. Nothing here needs an engine."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from threading import Event, Lock
from types import SimpleNamespace

import pytest

from fairclock.console.access.callers import Caller
from fairclock.console.readings.answering import AT_ONCE, MOST_OF_A_CALLER, AnsweredReadings, Given
from fairclock.console.readings.kept import Kept
from fairclock.console.readings.month_sums import added
from fairclock.console.readings.prepared import Prepared
from fairclock.errors import NotEvaluable, StoreUnreachable, TooBusy
from fairclock.store.tokens import Scope

NOW = datetime(2026, 11, 1, tzinfo=UTC)
ANN, BOB = (Caller(name=name, scope=Scope.ADMIN) for name in ("ann", "bob"))


@pytest.fixture
def readings():
    """Readings over a store that knows nothing but an instant; nothing is given up by them."""
    found = made(lambda: SimpleNamespace(watermark=lambda: NOW), limit_seconds=600)
    yield found
    found.close()


def made(store, **limits) -> AnsweredReadings:
    given = Given(
        store=store, contracts=list, prices=lambda: None, cost_book=None, now=lambda: NOW, software_version="0"
    )  # fmt: skip
    return AnsweredReadings(given, **limits)


def test_what_takes_too_long_is_given_up_and_counts_until_it_ends():
    readings = made(lambda: SimpleNamespace(watermark=lambda: NOW), limit_seconds=0.2)
    ends = Event()

    async def ask() -> None:
        with pytest.raises(TooBusy, match="no answer within"):
            await readings._ask(ANN, lambda _: ends.wait(120))

    until = time.monotonic() + 60
    while not readings._in_progress:  # one that was given up before its thread began it never begins
        asyncio.run(ask())
        assert time.monotonic() < until
    assert readings._in_progress == {"admin ann": 1}
    ends.set()
    while readings._in_progress:
        assert time.monotonic() < until + 60
        time.sleep(0.01)
    readings.close()


def test_one_caller_takes_no_more_than_its_part_and_leaves_room_for_another(readings):
    assert MOST_OF_A_CALLER < AT_ONCE
    ends, full, guard = Event(), Event(), Lock()
    running: list[str] = []
    most = [0]

    def work(name: str):
        def run(_: object) -> str:
            with guard:
                running.append(name)
                most[0] = max(most[0], running.count("ann"))
                if "bob" in running and running.count("ann") >= MOST_OF_A_CALLER:
                    full.set()
            ends.wait(60)
            with guard:
                running.remove(name)
            return name

        return run

    async def ask() -> list[str]:
        asked = [asyncio.create_task(readings._ask(ANN, work("ann"))) for _ in range(6)]
        asked.append(asyncio.create_task(readings._ask(BOB, work("bob"))))
        await asyncio.to_thread(full.wait, 60)
        assert sorted(running) == ["ann"] * MOST_OF_A_CALLER + ["bob"]
        ends.set()
        return await asyncio.gather(*asked)

    assert asyncio.run(ask()) == ["ann"] * 6 + ["bob"]
    assert most[0] == MOST_OF_A_CALLER


def test_what_a_question_raises_is_raised_to_whoever_asked():
    def away() -> None:
        raise StoreUnreachable("clickhouse", "nobody answers")

    readings = made(away)
    with pytest.raises(StoreUnreachable):
        asyncio.run(readings.overview(ANN))
    assert not readings._in_progress
    readings.close()


def test_a_kept_answer_is_given_again_until_it_is_old():
    kept: Kept[int] = Kept(most=2, fresh=timedelta(seconds=30))
    made = iter(range(10))
    assert kept.get("a", NOW, lambda: next(made)) == (0, NOW)
    assert kept.get("a", NOW + timedelta(seconds=29), lambda: next(made)) == (0, NOW)
    assert kept.get("a", NOW - timedelta(seconds=1), lambda: next(made))[0] == 1, (
        "nobody is told of what came later"
    )
    assert kept.get("a", NOW + timedelta(seconds=30), lambda: next(made))[0] == 2
    for other in ("b", "c"):
        kept.get(other, NOW, lambda: next(made))
    assert kept.get("a", NOW + timedelta(seconds=30), lambda: next(made))[0] == 5, (
        "only the last ones are kept"
    )


def wait_for(prepared: Prepared[int], as_of: datetime, make) -> tuple[int, datetime]:
    until = time.monotonic() + 60
    while (found := prepared.get("a", as_of, make)) is None:
        assert time.monotonic() < until
        time.sleep(0.005)
    return found


def test_a_prepared_answer_is_there_later_and_the_old_one_until_then():
    prepared: Prepared[int] = Prepared(most=2, fresh=timedelta(minutes=10))
    may_end = Event()
    assert prepared.get("a", NOW, lambda: 1) is None
    assert wait_for(prepared, NOW, lambda: 1) == (1, NOW)
    later = NOW + timedelta(minutes=10)
    assert prepared.get("a", later, lambda: may_end.wait(60) and 2) == (1, NOW)
    assert prepared.get("a", later, lambda: 3) == (1, NOW), "one is under way already"
    may_end.set()
    until = time.monotonic() + 60
    while prepared.get("a", later, lambda: 3) != (2, later):
        assert time.monotonic() < until
        time.sleep(0.005)
    prepared.close()


def test_what_could_not_be_prepared_is_said_once_and_tried_again():
    prepared: Prepared[int] = Prepared(most=2, fresh=timedelta(minutes=10))

    def fails() -> int:
        raise NotEvaluable("month", "cannot be")

    assert prepared.get("a", NOW, fails) is None
    with pytest.raises(NotEvaluable):
        wait_for(prepared, NOW, fails)
    assert wait_for(prepared, NOW, lambda: 7) == (7, NOW)
    prepared.close()


def test_sums_of_stretches_add_up_though_a_version_counted_more_objectives_in_one():
    one = ((1, 2), (0, 1), (0, 0), (0, 0), (3, 4, 5, 6, 7))
    other = ((1, 2, 3), (0, 1, 1), (0, 0, 0), (0, 0, 1), (3, 4, 5, 6, 7))
    assert added([one, other]) == ((2, 4, 3), (0, 2, 1), (0, 0, 0), (0, 0, 1), (6, 8, 10, 12, 14))
