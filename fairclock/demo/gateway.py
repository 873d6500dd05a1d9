"""Own the simulated gateway: limits, balancing, tries, and the run of a whole traffic through it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from fairclock.demo.course import Course, End, FailedTry
from fairclock.demo.engine import EngineShape, Load, Replica
from fairclock.demo.incidents import Incident, Mishap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.demo.traffic import Traffic

REFUSAL_SECONDS = 0.000_4
"""What a refused connection, or a refused request, costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The replicas behind one model's name."""

    model: str
    replicas: int
    shape: EngineShape


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayRules:
    """What the gateway's configuration says."""

    read_timeout_seconds: float = 60.0
    tries: int = 2  # proxy_next_upstream error non_idempotent
    fail_timeout_seconds: float = 10.0  # an engine that failed is left alone for so long, if there is another


@dataclass(slots=True, kw_only=True)
class _Bucket:
    """nginx's limit_req with nodelay: a leaky bucket."""

    per_second: float
    burst: int
    excess: float = 0.0
    last: float = nan

    def admits(self, now: float) -> bool:
        """Return whether a request at `now` passes; a refused one does not fill the bucket."""
        excess = 0.0
        if not isnan(self.last):
            excess = max(0.0, self.excess - (now - self.last) * self.per_second + 1.0)
        if excess > self.burst:
            return False
        self.excess, self.last = excess, now
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished simulation: what was sent, what became of it, and where."""

    traffic: Traffic
    course: Course
    replicas: tuple[str, ...]  # names, by replica number
    models: tuple[str, ...]  # by replica number
    incidents: tuple[Incident, ...]  # as they happened


class Gateway:
    """Send each request to the engine with the fewest requests in hand; go on to another on an error."""

    def __init__(self, *, traffic: Traffic, pools: Sequence[Pool], rules: GatewayRules) -> None:
        self._traffic = traffic
        self._rules = rules
        self._course = course = Course.of_size(traffic.size)
        self._leaves_midstream = traffic.leaves_midstream
        load = Load(
            prompt_tokens=traffic.prompt_tokens.tolist(),
            completion_tokens=np.where(
                self._leaves_midstream, traffic.leaves_after_tokens, traffic.completion_tokens
            ).tolist(),
            stream=traffic.stream.tolist(),
        )
        self._pools: dict[str, tuple[Pool, list[int]]] = {}
        self._replicas: list[Replica] = []
        self._models: list[str] = []
        for pool in pools:
            numbers = []
            for _ in range(pool.replicas):
                numbers.append(len(self._replicas))
                name = f"{pool.model}-{len(numbers) - 1}"
                self._replicas.append(Replica(name=name, shape=pool.shape, load=load, marks=course.marks))
                self._models.append(pool.model)
            self._pools[pool.model] = (pool, numbers)
        self._happened: list[Incident] = []
        self._lurking: list[Incident] = []
        self._left_alone_until = [-inf] * len(self._replicas)
        self._buckets = [
            _Bucket(per_second=each.requests_per_second, burst=each.request_burst) for each in traffic.tenants
        ]

    def run(self, incidents: Sequence[Incident]) -> Run:
        """Let everything happen in order of time."""
        pending = sorted(incidents, key=lambda each: (each.at, each.replica), reverse=True)
        models = [each.model for each in self._traffic.tenants]
        tenants = self._traffic.tenant.tolist()
        for number, received in enumerate(self._traffic.received_seconds.tolist()):
            while pending and pending[-1].at <= received:
                self._happen(pending.pop())
            tenant = tenants[number]
            self._receive(number, received, tenant, models[tenant])
        while pending:
            self._happen(pending.pop())
        for replica in self._replicas:
            replica.advance(inf)
        self._settle()
        return Run(
            traffic=self._traffic,
            course=self._course,
            replicas=tuple(replica.name for replica in self._replicas),
            models=tuple(self._models),
            incidents=tuple(self._happened),
        )

    def _receive(self, number: int, received: float, tenant: int, model: str) -> None:
        traffic, course = self._traffic, self._course
        if not self._buckets[tenant].admits(received):
            course.end[number] = End.LIMITED
            course.responded[number] = received + REFUSAL_SECONDS
            return
        for replica in self._pools[model][1]:
            self._replicas[replica].advance(received)
        if self._lurking:
            self._break_under_load(received)
        self._forward(number, received + float(traffic.path.uplink[number]), model)

    def _forward(self, number: int, now: float, model: str) -> None:
        """Try engines until one accepts the connection."""
        course = self._course
        pool, candidates = self._pools[model]
        tries = course.failed_tries.get(number, [])
        tried = {each.replica for each in tries}
        while len(tries) < self._rules.tries:
            live = [
                each
                for each in candidates
                if each not in tried and (len(candidates) == 1 or self._left_alone_until[each] <= now)
            ]
            if not live:
                if len(candidates) > 1:  # nginx notes a pool without live peers, not a lone peer's end
                    tries.append(FailedTry(replica=-1, start=now, end=now))
                break
            chosen = min(live, key=lambda each: (self._replicas[each].connections, each))
            if self._replicas[chosen].up_from <= now:
                self._hand_over(number, now, chosen, pool)
                break
            tries.append(FailedTry(replica=chosen, start=now, end=now + REFUSAL_SECONDS))
            self._left_alone_until[chosen] = now + self._rules.fail_timeout_seconds
            tried.add(chosen)
            now += REFUSAL_SECONDS
        if course.replica[number] < 0:
            course.end[number] = End.UNREACHABLE
            course.responded[number] = now + REFUSAL_SECONDS
        if tries:
            course.failed_tries[number] = tries

    def _hand_over(self, number: int, now: float, chosen: int, pool: Pool) -> None:
        traffic, course = self._traffic, self._course
        replica = self._replicas[chosen]
        arrived = now + float(traffic.path.inlet[number])
        queued = arrived + float(traffic.path.parsing[number]) + 0.000_2 * replica.connections
        course.replica[number] = chosen
        course.forwarded[number] = now
        course.arrived[number] = arrived
        refused = End.ANSWERED
        tokens = int(traffic.prompt_tokens[number] + traffic.completion_tokens[number])
        if traffic.malformed[number] or tokens > pool.shape.max_model_tokens:
            refused = End.MALFORMED
        elif replica.queue_full:
            refused = End.ENGINE_FULL
        if refused:
            course.end[number] = refused
            course.responded[number] = queued + float(traffic.path.outlet[number])
            return
        course.queued[number] = queued
        patience = float(traffic.received_seconds[number] + traffic.patience_seconds[number])
        deadline = min(max(patience, queued), now + self._rules.read_timeout_seconds)
        replica.submit(number, queued_at=queued, deadline=deadline)

    def _break_under_load(self, now: float) -> None:
        for incident in list(self._lurking):
            if self._replicas[incident.replica].connections >= incident.in_hand:
                self._lurking.remove(incident)
                self._happen(replace(incident, at=now, in_hand=0))

    def _happen(self, incident: Incident) -> None:
        if incident.in_hand:
            self._lurking.append(incident)
            return
        self._happened.append(incident)
        replica = self._replicas[incident.replica]
        model = self._models[incident.replica]
        for each in self._pools[model][1]:
            self._replicas[each].advance(incident.at)
        if incident.mishap is Mishap.COLD_START:
            replica.warm_up(incident.at + incident.cold_seconds, factor=incident.cold_factor)
        elif incident.mishap is Mishap.HANG:
            replica.hang(incident.at + incident.hang_seconds)
        else:
            up_from = incident.at + incident.down_seconds
            now, lost = replica.crash(incident.at, up_from=up_from)
            replica.warm_up(up_from + incident.cold_seconds, factor=incident.cold_factor)
            if lost:  # the gateway notices
                self._left_alone_until[incident.replica] = now + self._rules.fail_timeout_seconds
            for number, begun in lost:
                self._lose(number, now, begun=begun, model=model)

    def _lose(self, number: int, now: float, *, begun: bool, model: str) -> None:
        """Go on with a request whose engine died under it."""
        course = self._course
        if begun:
            course.end[number] = End.CUT
            course.responded[number] = now
            return
        course.failed_tries.setdefault(number, []).append(
            FailedTry(replica=course.replica[number], start=course.forwarded[number], end=now)
        )
        course.replica[number] = -1
        marks = course.marks
        for column in (
            course.forwarded,
            course.arrived,
            course.queued,
            marks.scheduled,
            marks.first_token,
        ):
            column[number] = nan
        self._forward(number, now, model)

    def _settle(self) -> None:
        """Give every request that reached an engine's queue its end."""
        traffic, course = self._traffic, self._course
        for number in range(traffic.size):
            if not isnan(course.responded[number]):
                continue
            last = course.marks.last_token[number]
            if not isnan(last):
                course.responded[number] = last + float(
                    traffic.path.answering[number] + traffic.path.outlet[number]
                )
                if self._leaves_midstream[number]:
                    course.end[number] = End.LEFT_MIDSTREAM
                continue
            given_up = course.marks.given_up[number]
            course.responded[number] = given_up
            silent_until = course.forwarded[number] + self._rules.read_timeout_seconds
            course.end[number] = End.LEFT_EARLY if given_up < silent_until else End.TIMED_OUT
