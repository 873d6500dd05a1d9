"""Own what a run asks: its arrivals become questions, each with an id, a trace, a tag and bytes of its own."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from inference_probe.prober.asking import Question
from inference_probe.prober.endpoints import PROBE_HEADER
from inference_probe.prober.prompts import Lengths, synthetic_prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from inference_probe.prober.endpoints import Endpoint
    from inference_probe.prober.schedules import Arrival

Api = Literal["chat", "completions"]
_TYPICAL = Lengths()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a run asks. `run` is its id; `tenant` whose traffic its probes are at the gateway: never a customer's.

    cancel_ratio of the probes are left `cancel_seconds` after they were sent. extends: whether they ask for what is no part of
    OpenAI's API: answers of exactly the wanted length, and a count with every chunk.
    """

    run: str
    model: str
    tenant: str
    api: Api = "chat"
    streams: bool = True
    prompt_tokens: int = 64
    completion_tokens: int = 32
    timeout_seconds: float = 60.0
    cancel_ratio: float = 0.0
    cancel_seconds: float = 0.0
    seed: int = 0
    inference_mode: str = ""
    lengths: Lengths = _TYPICAL
    extends: bool = True

    def question(
        self,
        endpoint: Endpoint,
        number: int,
        *,
        prompt: str,
        completion_tokens: int,
        stage: int = 0,
        version: str = "",
        judge: Callable[[str], dict[str, Any]] | None = None,
        may_stop: bool = False,
    ) -> Question:
        """Return one probe with its bytes. Its trace follows from the run and its number; `may_stop`: before all tokens came."""
        mark = hashlib.sha256(f"{self.run}/{version}/{number}".encode()).hexdigest()
        trace_id, span_id = mark[:32], mark[32:48]
        request_id = f"probe-{self.run}-{version + '-' if version else ''}{number}"
        chance = random.Random(mark)  # noqa: S311 - a plan, not a secret
        leaves = chance.random() < self.cancel_ratio
        return Question(
            number=number,
            request_id=request_id,
            trace_id=trace_id,
            request=endpoint.request(
                self.api,
                self._body(prompt, completion_tokens, may_stop=may_stop),
                {
                    PROBE_HEADER: self.run,
                    "X-Tenant": self.tenant,
                    "X-Request-Id": request_id,
                    "traceparent": f"00-{trace_id}-{span_id}-01",
                },
            ),
            streams=self.streams,
            timeout_seconds=self.timeout_seconds,
            cancel_seconds=self.cancel_seconds if leaves else None,
            judge=judge,
            stage=stage,
            version=version,
            inference_mode=self.inference_mode,
        )

    def questions(
        self,
        endpoint: Endpoint,
        arrivals: Iterable[Arrival],
        *,
        first: int = 0,
        stage: int = 0,
        version: str = "",
    ) -> Iterator[Question]:
        """Yield a question an arrival, of its lengths or else the run's own."""
        for number, arrival in enumerate(arrivals, start=first):
            words = self.lengths.words(arrival.prompt_tokens or self.prompt_tokens)
            yield self.question(
                endpoint,
                number,
                prompt=synthetic_prompt(words, seed=self.seed, number=number),
                completion_tokens=arrival.completion_tokens or self.completion_tokens,
                stage=stage,
                version=version,
            )

    def _body(self, prompt: str, completion_tokens: int, *, may_stop: bool) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "stream": self.streams,
            "max_tokens": completion_tokens,
            "temperature": 0,
        }
        if self.streams:
            more = {"continuous_usage_stats": True} if self.extends else {}
            body["stream_options"] = {"include_usage": True, **more}
        if self.extends and not may_stop:
            body["ignore_eos"] = True
        if self.api == "chat":
            return body | {"messages": [{"role": "user", "content": prompt}]}
        return body | {"prompt": prompt}
