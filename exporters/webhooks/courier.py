"""Own the courier: it writes down what it is about to do, does it, and writes down what came of it.

Between any two of these it may be killed. What was planned is in the outbox under its message's id, so it is sent
again as that; what was not planned was not sent.
"""

from __future__ import annotations

import logging
import traceback
import uuid
from dataclasses import replace
from datetime import timedelta
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from exporters.back_off import retry_seconds
from exporters.webhooks.destination import Attempt
from exporters.webhooks.formats.format import Outcome
from exporters.webhooks.outbox import Fate
from exporters.webhooks.planning import abandoned, plan, route
from fairclock.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from exporters.webhooks.destination import Destination
    from exporters.webhooks.outbox import Entry, Outbox
    from exporters.webhooks.planning import Message

_LOG = logging.getLogger(__name__)
_FIRST_RETRY_SECONDS = 2.0
_LAST_RETRY_SECONDS = 900.0
_MOST_REFUSALS = 5
_MESSAGES_A_STEP = 50
_LOOK_SECONDS = 2.0
_STORE_AWAY_SECONDS = 5.0


class Courier:
    """Deliver what is in `outbox` to `destinations`; `random` returns numbers in [0, 1).

    `step` does what is due at one destination; `start` lets a thread for each do that until `stop`.
    """

    def __init__(
        self,
        outbox: Outbox,
        destinations: Sequence[Destination],
        *,
        now: Callable[[], datetime],
        random: Callable[[], float],
        give_up: timedelta = timedelta(days=1),
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        self._outbox = outbox
        self._destinations = {destination.name: destination for destination in destinations}
        self._now = now
        self._random = random
        self._give_up = give_up
        self._new_id = new_id
        self._routing = Lock()
        self._paused_until: dict[str, datetime] = {}
        self._seen: dict[str, tuple[object, datetime | None]] = {}
        self._stopping = Event()
        self._wakers = {name: Event() for name in self._destinations}
        self._threads = [
            Thread(target=self._run, args=(name,), name=f"webhook {name}", daemon=True)
            for name in self._destinations
        ]

    @property
    def is_alive(self) -> bool:
        """Return whether every thread runs."""
        return all(thread.is_alive() for thread in self._threads)

    def start(self) -> None:
        """Begin to deliver."""
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Look at once: there is something new."""
        for waker in self._wakers.values():
            waker.set()

    def stop(self, *, timeout_seconds: float = 30.0) -> None:
        """End once the attempts under way are over; what waits stays in the outbox."""
        self._stopping.set()
        self.wake()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(timeout_seconds)

    def route(self) -> None:
        """Note for which destinations new events are; events that none wants are noted too."""
        with self._routing:
            now = self._now()
            book = self._outbox.read()
            rules = [destination.rules for destination in self._destinations.values()]
            rows = route(book, rules, now) + abandoned(book, self._destinations, self._give_up, now)
            self._outbox.write(rows, now=now)

    def step(self, name: str) -> datetime | None:
        """Do what is due at the destination `name`; return when to look again, or None if nothing waits there."""
        now = self._now()
        mark = self._outbox.mark()
        seen, wake_at = self._seen.get(name, (None, None))
        if mark == seen and (wake_at is None or now < wake_at):
            return wake_at
        self.route()
        destination = self._destinations[name]
        paused_until = self._paused_until.get(name)
        made = plan(self._outbox.read(), destination.rules, self._outbox.silences(now=now), now)
        self._outbox.write(made.rows, now=now)
        if paused_until is not None and now < paused_until:
            # what was decided is written; the other side asked for some peace
            self._seen[name] = (None, None)
            return paused_until
        for message in made.messages[:_MESSAGES_A_STEP]:
            if self._stopping.is_set():
                break
            self._outbox.write(self._deliver(destination, message), now=self._now())
            paused = self._paused_until.get(name)
            if paused is not None and self._now() < paused:
                break
        if made.rows or made.messages:
            # each outcome makes room for the next event of its alert
            self._seen.pop(name, None)
            return now
        self._seen[name] = (mark, made.wake_at)
        return made.wake_at

    def _deliver(self, destination: Destination, message: Message) -> list[Entry]:
        delivery_id = self._new_id()
        now = self._now()
        try:
            attempt = destination.send(
                message.events, message_id=message.message_id, delivery_id=delivery_id, now=now
            )
        except Exception as error:  # noqa: BLE001 - one message that cannot be made must not hold up the others
            # its text stays out of rows and logs: it may hold an address or a secret
            place = traceback.extract_tb(error.__traceback__)[-1]
            problem = f"an unexpected {type(error).__name__} in {place.name}, line {place.lineno}"
            _LOG.error("webhook %s: the message cannot be made: %s", destination.name, problem)
            attempt = Attempt(outcome=Outcome.LATER, problem=problem)
        return self._outcome(destination, message, attempt, delivery_id)

    def _outcome(
        self, destination: Destination, message: Message, attempt: Attempt, delivery_id: str
    ) -> list[Entry]:
        """Return the rows that say what came of an attempt."""
        now = self._now()
        first = message.entries[0]
        number = first.attempt + 1
        given_up_at = (first.planned_at or now) + destination.rules.give_up
        is_refused = attempt.outcome is Outcome.REFUSED and number >= _MOST_REFUSALS
        if attempt.outcome is Outcome.TAKEN:
            fate, retry_at = Fate.DELIVERED, None
        elif is_refused or now >= given_up_at:
            fate, retry_at = Fate.DEAD, None
            _LOG.error(
                "webhook %s: message %s is given up after %d attempts: %s",
                destination.name, message.message_id, number, attempt.problem,
            )  # fmt: skip
        else:
            fate = Fate.FAILED
            retry_at = min(now + self._wait(destination.name, number, attempt, now), given_up_at)
            _LOG.warning("webhook %s: attempt %d failed: %s", destination.name, number, attempt.problem)
        return [
            replace(
                entry,
                fate=fate,
                version=entry.version + 1,
                delivery_id=delivery_id,
                attempt=number,
                http_status=attempt.status,
                problem=attempt.problem,
                retry_at=retry_at,
            )
            for entry in message.entries
        ]

    def _wait(self, name: str, failures: int, attempt: Attempt, now: datetime) -> timedelta:
        seconds = retry_seconds(
            failures,
            first_seconds=_FIRST_RETRY_SECONDS,
            most_seconds=_LAST_RETRY_SECONDS,
            random=self._random,
        )
        if attempt.retry_after_seconds is not None:
            self._paused_until[name] = now + timedelta(seconds=attempt.retry_after_seconds)
            seconds = max(seconds, attempt.retry_after_seconds)
        return timedelta(seconds=seconds)

    def _run(self, name: str) -> None:
        while not self._stopping.is_set():
            wait_seconds = _LOOK_SECONDS
            try:
                wake_at = self.step(name)
                if wake_at is not None:
                    wait_seconds = min((wake_at - self._now()).total_seconds(), _LOOK_SECONDS)
            except StoreError as error:
                _LOG.warning("webhook %s: the store is away, and it is tried again: %s", name, error)
                wait_seconds = _STORE_AWAY_SECONDS
            except Exception:  # noqa: BLE001 - what waits is in the outbox until whatever it is has passed
                _LOG.exception("webhook %s: an unexpected error; it is tried again", name)
                wait_seconds = _STORE_AWAY_SECONDS
            if wait_seconds > 0:
                self._wakers[name].wait(wait_seconds)
            self._wakers[name].clear()
