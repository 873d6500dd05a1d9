"""Own one simulated engine replica: continuous batching, step by step.

Every step gives one token to each decoding sequence and spends what is left of the token budget on prompts,
first come first served: so a long prompt, prefilled in chunks, keeps the next ones waiting although seats are
free, and slows down the tokens of those that already run. Steps that are alike are taken in one stride.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

WAKE_SECONDS = 0.000_06
"""An idle engine takes so long from a request's arrival in its queue to the first step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineShape:
    """What one replica can do."""

    max_num_seqs: int = 8
    step_tokens: int = 512  # prompt and decode tokens of one step together (max_num_batched_tokens)
    step_seconds: float = 0.014  # a step without any token
    sequence_seconds: float = 0.0006  # more for each decoding sequence
    prefill_tokens_per_second: float = 12_000.0
    kv_tokens: int = 160_000  # a sequence holds its prompt and completion from its first step on
    max_queued: int = 48  # more than that waiting: the engine answers 503
    max_model_tokens: int = 32_768

    def __post_init__(self) -> None:
        """Refuse a shape in which a request could wait for ever."""
        if self.kv_tokens < self.max_model_tokens or self.step_tokens <= self.max_num_seqs:
            raise ValueError(f"an engine of this shape could never schedule some requests: {self}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What the requests ask of an engine, by request number (plain lists: they are read one by one)."""

    prompt_tokens: Sequence[int]
    completion_tokens: Sequence[int]
    stream: Sequence[bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """When a request reached its marks, by request number; seconds, nan where it never did."""

    scheduled: array[float]
    first_token: array[float]
    last_token: array[float]
    given_up: array[float]


class _Place(IntEnum):
    WAITING = 0
    PREFILL = 1
    DECODE = 2
    STREAMING = 3  # the answer has begun: nobody waits for it any more


class Replica:
    """One engine; it knows requests by their number and writes into the common `marks`."""

    def __init__(self, *, name: str, shape: EngineShape, load: Load, marks: Marks) -> None:
        self.name = name
        self.shape = shape
        self.up_from = -inf  # the replica refuses connections before
        self._load = load
        self._marks = marks
        self._slow_until = -inf
        self._slow_factor = 1.0
        self._clock = -inf  # the next step starts no earlier
        self._steps = 0
        self._clear()

    def _clear(self) -> None:
        self._place: dict[int, _Place] = {}
        self._waiting: list[tuple[float, int]] = []  # heap by (queued, number)
        self._queued_count = 0
        self._partial = -1  # the one prompt that is prefilled in chunks
        self._partial_left = 0
        self._decoding: list[tuple[int, int]] = []  # heap by (last step, number)
        self._decoding_count = 0
        self._deadlines: list[tuple[float, int]] = []
        self._kv_free = self.shape.kv_tokens

    @property
    def connections(self) -> int:
        """Return how many requests the replica has in hand (what least_conn balances)."""
        return len(self._place)

    @property
    def queue_full(self) -> bool:
        """Return whether one more request would be refused."""
        return self._queued_count >= self.shape.max_queued

    def submit(self, number: int, *, queued_at: float, deadline: float) -> None:
        """Put request `number` into the queue; without an answer begun at `deadline` it is given up."""
        self._place[number] = _Place.WAITING
        self._queued_count += 1
        heappush(self._waiting, (queued_at, number))
        if deadline < inf:
            heappush(self._deadlines, (deadline, number))

    def hang(self, until: float) -> None:
        """Take no step before `until`; connections are accepted and nothing comes back."""
        self._clock = max(self._clock, until)

    def crash(self, at: float, *, up_from: float) -> tuple[float, list[tuple[int, bool]]]:
        """Lose everything in hand at `at`, or when the step under way ends, and refuse until `up_from`.

        Return that instant, and of each lost request its number and whether its answer had begun.
        """
        at = max(at, self._clock) if self._place else at
        lost = [(number, place is _Place.STREAMING) for number, place in sorted(self._place.items())]
        self._clear()
        self._clock = up_from
        self.up_from = up_from
        return at, lost

    def warm_up(self, until: float, *, factor: float) -> None:
        """Make every step before `until` take `factor` times as long (a cold start)."""
        self._slow_until = until
        self._slow_factor = factor

    def advance(self, until: float) -> None:
        """Take every step that starts before `until`."""
        while True:
            if not self._decoding_count and self._partial < 0:
                self._drop_stale_waiting()
                if not self._waiting:
                    break
                self._clock = max(self._clock, self._waiting[0][0] + WAKE_SECONDS)
            if self._clock >= until:
                break
            if self._deadlines and self._deadlines[0][0] <= self._clock:
                self._give_up(self._clock)
                continue
            self._stride(until)
        self._give_up(until)

    def _stride(self, until: float) -> None:
        """Take one step, and with it all that would be exactly like it."""
        start, shape = self._clock, self.shape
        decoding = self._decoding_count
        room = shape.step_tokens - decoding
        prefilled, ready = self._prefill(start, room)
        slow = start < self._slow_until
        seconds = (
            shape.step_seconds
            + shape.sequence_seconds * decoding
            + prefilled / shape.prefill_tokens_per_second
        ) * (self._slow_factor if slow else 1.0)
        steps = 1
        if not ready:
            steps = self._alike(prefilled, start=start, seconds=seconds, until=until, slow=slow)
            if prefilled:
                self._partial_left -= (steps - 1) * prefilled
        self._steps += steps
        self._clock = end = start + steps * seconds
        if self._deadlines and self._deadlines[0][0] < end:
            self._give_up(end)
        while self._decoding and self._decoding[0][0] <= self._steps:
            number = heappop(self._decoding)[1]
            if self._place.get(number, _Place.WAITING) >= _Place.DECODE:
                self._decoding_count -= 1
                self._finish(number, end)
        for number in ready:
            if number not in self._place:
                continue
            self._marks.first_token[number] = end
            tokens = self._load.completion_tokens[number]
            if tokens <= 1:
                self._finish(number, end)
                continue
            self._place[number] = _Place.STREAMING if self._load.stream[number] else _Place.DECODE
            self._decoding_count += 1
            heappush(self._decoding, (self._steps + tokens - 1, number))

    def _prefill(self, now: float, room: int) -> tuple[int, list[int]]:
        """Spend `room` tokens on prompts; return the tokens spent and the prompts this completes."""
        prefilled = 0
        ready: list[int] = []
        if self._partial >= 0:
            prefilled = min(self._partial_left, room)
            self._partial_left -= prefilled
            if self._partial_left:
                return prefilled, ready
            ready.append(self._partial)
            self._partial = -1
        seats = self.shape.max_num_seqs - self._decoding_count - len(ready)
        while prefilled < room and seats > 0 and self._waiting and self._waiting[0][0] <= now:
            number = self._waiting[0][1]
            if self._place.get(number) is not _Place.WAITING:
                heappop(self._waiting)
                continue
            prompt = self._load.prompt_tokens[number]
            if prompt + self._load.completion_tokens[number] > self._kv_free:
                break
            heappop(self._waiting)
            self._queued_count -= 1
            seats -= 1
            self._kv_free -= prompt + self._load.completion_tokens[number]
            self._marks.scheduled[number] = now
            self._place[number] = _Place.PREFILL
            if prompt > room - prefilled:
                self._partial = number
                self._partial_left = prompt - (room - prefilled)
                return room, ready
            prefilled += prompt
            ready.append(number)
        return prefilled, ready

    def _alike(self, prefilled: int, *, start: float, seconds: float, until: float, slow: bool) -> int:
        """Return how many steps from `start` on do the same work, the first included."""
        horizon = min(until, self._deadlines[0][0] if self._deadlines else inf)
        if slow:
            horizon = min(horizon, self._slow_until)
        steps = 1 << 30
        if self._decoding:
            steps = self._decoding[0][0] - self._steps
        if prefilled:
            steps = min(steps, 1 + (self._partial_left - 1) // prefilled)
        elif self._waiting and self._decoding_count < self.shape.max_num_seqs and self._waiting[0][0] > start:
            horizon = min(horizon, self._waiting[0][0])
        before_horizon = (horizon - start) / seconds
        return max(1, int(before_horizon) + 1 if before_horizon < steps else steps)

    def _finish(self, number: int, now: float) -> None:
        self._marks.last_token[number] = now
        self._release(number)

    def _release(self, number: int) -> None:
        del self._place[number]
        self._kv_free += self._load.prompt_tokens[number] + self._load.completion_tokens[number]

    def _give_up(self, until: float) -> None:
        """Drop those whose deadline has come before their answer began."""
        while self._deadlines and self._deadlines[0][0] <= until:
            deadline, number = heappop(self._deadlines)
            place = self._place.get(number)
            if place is None or place is _Place.STREAMING:
                continue
            self._marks.given_up[number] = deadline
            if place is _Place.WAITING:
                del self._place[number]
                self._queued_count -= 1
                continue
            if place is _Place.DECODE:
                self._decoding_count -= 1
            elif number == self._partial:
                self._partial = -1
            self._release(number)

    def _drop_stale_waiting(self) -> None:
        while self._waiting and self._place.get(self._waiting[0][1]) is not _Place.WAITING:
            heappop(self._waiting)
