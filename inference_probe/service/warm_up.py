"""Own the warm-up: typical prompts one after another, then many at once, until the same request takes the same time.

What compiles, allocates or fills a cache on first use does so here and not in a measurement. Nothing of it stays in the
prefix cache.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from inference_probe.service.calling import call
from inference_probe.service.stages import Stage
from inference_probe.service.telling import REQUEST_ID_HEADER

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from starlette.types import ASGIApp

    from inference_probe.service.stages import Progress

SENTENCES = (
    "Write a short letter to a customer whose parcel came two days late, and say what we shall do about it.",
    "Summarise: the pump was replaced in March, ran for 1,204 hours and failed again; the seal was dry.",
    "What is the difference between a queue and a delay? Answer in three sentences, with an example.",
    "请用两句话说明什么是服务等级协议。",
)
LENGTHS_TOKENS = (16, 128, 512, 2_048)
REQUEST_ID_PREFIX = "fairclock-warm-up-"
_ANSWER_TOKENS = 32
_MOST_AT_ONCE = 64
_FEWEST_ROUNDS, _MOST_ROUNDS = 2, 6
_STEADY_RATIO = 0.1


class WarmUpFailed(Exception):  # noqa: N818 - as the errors of Fairclock are named
    """A request of the warm-up was not answered as it should be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmUp:
    """What to ask.

    model: its served name. context_tokens: what prompt and answer may be together. at_once: how many requests the engine
    runs at a time. prompts: typical ones; the built-in sentences stand in for none. has_chat: whether the model has a chat
    template. api_key: '' where none is asked for.
    """

    model: str
    context_tokens: int
    at_once: int
    prompts: Sequence[str] = ()
    has_chat: bool = True
    api_key: str = ""


class _Asking:
    """Ask the model's application, and count."""

    def __init__(self, app: ASGIApp, plan: WarmUp) -> None:
        self._app = app
        self._plan = plan
        self.requests = 0

    async def post(self, path: str, content: Mapping[str, Any]) -> bytes:
        """Return the body of an answer; raises `WarmUpFailed` with its error."""
        headers = {REQUEST_ID_HEADER: f"{REQUEST_ID_PREFIX}{self.requests}"}
        if self._plan.api_key:
            headers["Authorization"] = f"Bearer {self._plan.api_key}"
        called = await call(self._app, path, {"model": self._plan.model, **content}, headers)
        if called.status != HTTPStatus.OK:
            raise WarmUpFailed(
                f"warm-up: {path} answered {called.status} ({called.body.decode(errors='replace')[:500]});"
                " look at the engine's messages and options"
            )
        return called.body

    async def generate(self, path: str, content: Mapping[str, Any]) -> float:
        """Ask for an answer of full length; returns seconds."""
        began = time.monotonic()
        asked = {"max_tokens": _ANSWER_TOKENS, "temperature": 0.0, "ignore_eos": True, **content}
        self.requests += 1
        await self.post(path, asked)
        return time.monotonic() - began

    async def tokens(self, text: str) -> list[int]:
        """Return a text's tokens, as the model's own tokenizer has them."""
        body = await self.post("/tokenize", {"prompt": text, "add_special_tokens": False})
        return list(json.loads(body)["tokens"])


async def warm_up(
    app: ASGIApp, plan: WarmUp, progress: Progress, *, forget_prefixes: Callable[[], Awaitable[Any]]
) -> None:
    """Go through the stages after the engine's own start, and note in `progress` what they found.

    Raises `WarmUpFailed` where the model does not answer: such a service must not become ready.
    """
    asking = _Asking(app, plan)
    room = max(1, plan.context_tokens - _ANSWER_TOKENS)
    prompts = await _prompts(asking, plan, room=room)
    measured = {"prompt": prompts[0], "stream": True, "stream_options": {"include_usage": True}}
    first_seconds = await asking.generate("/v1/completions", measured)
    for prompt in prompts:
        await asking.generate("/v1/completions", {"prompt": prompt})
        if plan.has_chat:
            message = {"role": "user", "content": "Count from one to ten."}
            chat = {"messages": [message], "stream": True, "stream_options": {"include_usage": True}}
            await asking.generate("/v1/chat/completions", chat)
    progress.enter(Stage.LOAD, now=time.monotonic())
    rounds = await _load(asking, prompts, at_once=min(2 * plan.at_once, _MOST_AT_ONCE))
    await forget_prefixes()
    warm_seconds = await asking.generate("/v1/completions", measured)
    await forget_prefixes()
    progress.warm_up.update(
        requests=asking.requests,
        first_request_seconds=first_seconds,
        warm_request_seconds=warm_seconds,
        load_rounds_seconds=rounds,
        is_steady=_is_steady(rounds),
        prompt_tokens=[len(prompt) for prompt in prompts],
    )


async def _prompts(asking: _Asking, plan: WarmUp, *, room: int) -> list[list[int]]:
    """Return the typical prompts as tokens; without any, the built-in sentences cut to several lengths that fit."""
    if plan.prompts:
        found = [(await asking.tokens(text))[:room] for text in plan.prompts]
        return [prompt for prompt in found if prompt] or [[0]]
    tokens = await asking.tokens(" ".join(SENTENCES))
    lengths = sorted({min(length, room) for length in LENGTHS_TOKENS})
    return [(tokens * -(-length // len(tokens)))[:length] for length in lengths]


async def _load(asking: _Asking, prompts: Sequence[list[int]], *, at_once: int) -> list[float]:
    """Ask `at_once` at a time until two rounds take as long as each other; returns each round's median seconds."""
    rounds: list[float] = []
    while len(rounds) < _MOST_ROUNDS and not (len(rounds) >= _FEWEST_ROUNDS and _is_steady(rounds)):
        round_ = [
            asking.generate("/v1/completions", {"prompt": _turned(prompts[number % len(prompts)], number)})
            for number in range(len(rounds) * at_once, (len(rounds) + 1) * at_once)
        ]
        rounds.append(statistics.median(await asyncio.gather(*round_)))
    return rounds


def _turned(prompt: list[int], number: int) -> list[int]:
    """Return the prompt from another of its tokens on: an equal beginning would be found in the prefix cache."""
    place = number % len(prompt)
    return prompt[place:] + prompt[:place]


def _is_steady(rounds: Sequence[float]) -> bool:
    if len(rounds) < _FEWEST_ROUNDS:
        return False
    earlier, later = rounds[-2:]
    return abs(later - earlier) <= _STEADY_RATIO * earlier
