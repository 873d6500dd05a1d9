"""Own the clients of the live demonstration, each with a stopwatch of its own."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import httpx

from fairclock.demo.live.calls import Behaviour, Call
from fairclock.demo.live.gateway import TRACE_HEADER
from fairclock.model import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_AT_ONCE = 8
_READY = "/ready"
"""What the gateway answers itself, and logs nowhere."""
_PATIENCE_SECONDS = 120.0
_LEAVES_AFTER_SECONDS = 0.25
_LEAVES_AFTER_CHUNKS = 5
_SENT = "http11.send_request_body.complete"
"""What httpx calls the step after which all of a request is on its way."""

_NANOSECONDS_PER_MICROSECOND = 1000
_OUTCOMES: dict[int, Outcome] = {
    httpx.codes.OK: Outcome.OK,
    httpx.codes.BAD_REQUEST: Outcome.CLIENT_ERROR,
    httpx.codes.SERVICE_UNAVAILABLE: Outcome.QUOTA_REJECTED,  # nginx's own; vLLM has no limit here
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What a client saw of its call: `elapsed_us` on its own clock; status 0 and no trace if nothing came.

    timings: what the engine said of its own times in the answer, in milliseconds, where it was asked to.
    usage: the tokens that a whole answer says it took, by the names of its ``usage``.
    lag_us: how long client and gateway took to hear each other right before the call and right after it, together: on a busy
    machine so much of `elapsed_us` may be nobody's answer.
    """

    call: Call
    status: int
    trace_id: str
    left: bool
    elapsed_us: int
    timings: Mapping[str, float] = field(default_factory=dict)
    usage: Mapping[str, int] = field(default_factory=dict)
    lag_us: int = 0

    @property
    def outcome(self) -> Outcome | None:
        """Return what a gateway that tells the truth must have logged; None for a status nobody planned."""
        return Outcome.CLIENT_ABORTED if self.left else _OUTCOMES.get(self.status)


async def make_calls(base_url: str, calls: Sequence[Call]) -> list[Observation]:
    """Make `calls`, a few at a time and the burst all at once in their midst, and return what was seen."""
    steady = [call for call in calls if call.behaviour is not Behaviour.BURSTS]
    burst = [call for call in calls if call.behaviour is Behaviour.BURSTS]
    half_way = asyncio.Event()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=_AT_ONCE)
    async with httpx.AsyncClient(
        base_url=base_url, timeout=_PATIENCE_SECONDS, limits=limits, trust_env=False
    ) as client:
        await asyncio.gather(*(client.get(_READY) for _ in range(_AT_ONCE)))
        line = iter(steady)
        turns = [_take_turns(client, line, half_way, half=len(steady) // 2) for _ in range(_AT_ONCE)]
        seen = await asyncio.gather(*turns, _make_burst(client, burst, half_way))
    return [observation for of_one in seen for observation in of_one]


async def _take_turns(
    client: httpx.AsyncClient, line: Iterator[Call], half_way: asyncio.Event, *, half: int
) -> list[Observation]:
    seen = []
    for call in line:  # one iterator for all: who is free takes the next call
        if call.number >= half:
            half_way.set()
        seen.append(await _watched_call(client, call))
    half_way.set()
    return seen


async def _make_burst(
    client: httpx.AsyncClient, burst: Sequence[Call], half_way: asyncio.Event
) -> list[Observation]:
    await half_way.wait()
    return await asyncio.gather(*(_watched_call(client, call) for call in burst))


async def _watched_call(client: httpx.AsyncClient, call: Call) -> Observation:
    """Make one call, and look beside it how long client and gateway take to hear each other."""
    before_us = await _lag_us(client)
    seen = await make_call(client, call)
    return replace(seen, lag_us=before_us + await _lag_us(client))


async def _lag_us(client: httpx.AsyncClient) -> int:
    started_ns = time.perf_counter_ns()
    await client.get(_READY)
    return (time.perf_counter_ns() - started_ns) // _NANOSECONDS_PER_MICROSECOND


async def make_call(client: httpx.AsyncClient, call: Call) -> Observation:
    """Make one call, behave as planned, and stop the watch after the last byte or when leaving."""
    headers = {"Authorization": f"Bearer {call.api_key}"}
    if call.request_id:
        headers["X-Request-Id"] = call.request_id
    gives_up = call.behaviour is Behaviour.LEAVES_BEFORE_ANSWER
    loop = asyncio.get_running_loop()
    status, trace_id, left = 0, "", False
    answer = bytearray()
    started_ns = time.perf_counter_ns()
    try:
        async with asyncio.timeout(None) as patience:

            async def note(step: str, _: Mapping[str, object]) -> None:
                """Who leaves has asked: on a busy machine sending may take longer than they stay."""
                if gives_up and step == _SENT:
                    patience.reschedule(loop.time() + _LEAVES_AFTER_SECONDS)

            request = client.build_request(
                "POST", call.path, json=call.body, headers=headers, extensions={"trace": note}
            )
            response = await client.send(request, stream=True)
            status, trace_id = response.status_code, response.headers.get(TRACE_HEADER, "")
            # A stream's headers come before its first token.
            left = gives_up or not await _read(
                response, answer, leaves=call.behaviour is Behaviour.LEAVES_IN_STREAM
            )
            await response.aclose()
    except TimeoutError:
        left = True
    elapsed_us = (time.perf_counter_ns() - started_ns) // _NANOSECONDS_PER_MICROSECOND
    return Observation(
        call=call, status=status, trace_id=trace_id, left=left, elapsed_us=elapsed_us,
        timings={} if call.stream or left else _timings(answer), usage={} if left else _usage(answer),
    )  # fmt: skip


async def _read(response: httpx.Response, answer: bytearray, *, leaves: bool) -> bool:
    """Return whether the answer was read to its end; what of it was read is added to `answer`."""
    chunks = 0
    async for chunk in response.aiter_raw():
        answer += chunk
        chunks += 1
        if leaves and chunks == _LEAVES_AFTER_CHUNKS:
            return False
    return True


def _timings(answer: bytearray) -> dict[str, float]:
    """Return the numbers of the answer's ``metrics``."""
    try:
        found = json.loads(answer).get("metrics") or {}
    except (ValueError, AttributeError):
        return {}
    return {name: float(value) for name, value in found.items() if isinstance(value, int | float)}


def _usage(answer: bytearray) -> dict[str, int]:
    """Return the counts of the answer's ``usage``; of a stream, those of the last event that has any."""
    found: dict[str, int] = {}
    for line in [bytes(answer), *bytes(answer).splitlines()]:
        try:
            said = json.loads(line.removeprefix(b"data:")).get("usage") or {}
        except (ValueError, AttributeError):
            continue
        found = {name: value for name, value in said.items() if isinstance(value, int)} or found
    return found
