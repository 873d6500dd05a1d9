"""Own what the clients of the live demonstration do: which calls are made, and how each one behaves."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum

ACME_KEY, GLOBEX_KEY, BURSTY_KEY = "sk-live-acme", "sk-live-globex", "sk-live-bursty"
_OWN_IDS = ("", "", "", "order-7", "chatcmpl-7", "cmpl-7-0")  # mostly none; the last two look like vLLM's
_SENTENCE = "The clock starts when the first byte arrives, and two seconds of queueing vanish in between. "
_FEWEST_TOKENS = 24
_LONG_TOKENS = 1500
BURST_CALLS = 8


class Behaviour(StrEnum):
    """What a client does with its call."""

    STAYS = "stays to the end"
    LEAVES_BEFORE_ANSWER = "leaves before the first token"
    LEAVES_IN_STREAM = "leaves in the middle of the stream"
    SENDS_NONSENSE = "sends a body that vLLM refuses"
    BURSTS = "sends more at once than its quota"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a client. `completion_tokens` differs between calls: it tells a wrong join from a right one."""

    number: int
    chat: bool
    stream: bool
    api_key: str
    behaviour: Behaviour
    completion_tokens: int
    request_id: str = ""

    @property
    def path(self) -> str:
        """Return the route that is called."""
        return "/v1/chat/completions" if self.chat else "/v1/completions"

    @property
    def body(self) -> dict[str, object]:
        """Return the request's JSON; the answer has exactly `completion_tokens` tokens, and ends with its usage."""
        text = _SENTENCE * (1 + self.number % 6)
        wanted: dict[str, object] = {"model": "tiny", "stream": self.stream, "ignore_eos": True}
        if self.stream:
            wanted["stream_options"] = {"include_usage": True}
        wanted["max_tokens"] = -1 if self.behaviour is Behaviour.SENDS_NONSENSE else self.completion_tokens
        return wanted | ({"messages": [{"role": "user", "content": text}]} if self.chat else {"prompt": text})


def plan_calls(requests: int, *, seed: int = 7) -> list[Call]:
    """Return `requests` calls in the order in which they are taken up, the same for the same seed.

    Of every twenty, two leave before an answer, two in a stream and two send nonsense. The last
    `BURST_CALLS` are one tenant's burst, sent at once. Half carry an id of the client's own, the same few
    again and again.
    """
    chance = random.Random(seed)  # noqa: S311  (a plan, not a secret)
    steady = max(requests - BURST_CALLS, 0)
    calls = [_steady_call(number, chance) for number in range(steady)]
    burst = [
        Call(
            number=number,
            chat=False,
            stream=False,
            api_key=BURSTY_KEY,
            behaviour=Behaviour.BURSTS,
            completion_tokens=_FEWEST_TOKENS + number,
        )
        for number in range(steady, requests)
    ]
    return calls + burst


def _steady_call(number: int, chance: random.Random) -> Call:
    behaviours = {
        3: Behaviour.LEAVES_BEFORE_ANSWER,
        6: Behaviour.SENDS_NONSENSE,
        9: Behaviour.LEAVES_IN_STREAM,
        13: Behaviour.LEAVES_BEFORE_ANSWER,
        16: Behaviour.SENDS_NONSENSE,
        18: Behaviour.LEAVES_IN_STREAM,
    }
    behaviour = behaviours.get(number % 20, Behaviour.STAYS)
    leaves = behaviour in (Behaviour.LEAVES_BEFORE_ANSWER, Behaviour.LEAVES_IN_STREAM)
    stream = behaviour is Behaviour.LEAVES_IN_STREAM or chance.choice((True, False))
    own_id = chance.choice(_OWN_IDS)
    return Call(
        number=number,
        chat=chance.choice((True, False)),
        stream=stream,
        api_key=chance.choice((ACME_KEY, GLOBEX_KEY)),
        behaviour=behaviour,
        # Who leaves asks for so much that the engine cannot have finished by then.
        completion_tokens=_LONG_TOKENS if leaves else _FEWEST_TOKENS + number,
        # Without an answer there is no header to find the request by, so these have an id each.
        request_id=f"left-{number}" if behaviour is Behaviour.LEAVES_BEFORE_ANSWER else own_id,
    )
