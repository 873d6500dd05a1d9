"""Own what is seen of one HTTP request while it is answered: when it came, and what the engine's own state says of it."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

current_exchange: ContextVar[Exchange | None] = ContextVar("current_exchange", default=None)
"""The HTTP request that is answered in this context; None outside of one."""


class EngineRequest:
    """What was made of one prompt: the engine's live state of it, and what its outputs said.

    engine_request_id: as vLLM's spans and statistics have it. sequences: how many answers were asked for at once.
    is_delta: whether each output holds only what is new, else all so far.
    """

    __slots__ = (
        "_counted",
        "cached_tokens",
        "engine_request_id",
        "finish_reason",
        "is_delta",
        "is_finished",
        "prompt_tokens",
        "sequences",
        "state",
    )

    def __init__(self, engine_request_id: str, *, sequences: int = 1, is_delta: bool = False) -> None:
        self.engine_request_id = engine_request_id
        self.sequences = sequences
        self.is_delta = is_delta
        self.state: Any = None
        self.prompt_tokens: int | None = None
        self.cached_tokens: int | None = None
        self.finish_reason: str | None = None
        self.is_finished = False
        self._counted: dict[int, int] = {}

    def note(self, output: Any) -> None:
        """Take a RequestOutput; of several sequences the last one to say something gives the state."""
        if output.metrics is not None:
            self.state = output.metrics
        if output.prompt_token_ids is not None:
            self.prompt_tokens = len(output.prompt_token_ids)
        if output.num_cached_tokens is not None:
            self.cached_tokens = output.num_cached_tokens
        for each in output.outputs:
            earlier = self._counted.get(each.index, 0) if self.is_delta else 0
            self._counted[each.index] = earlier + len(each.token_ids)
            if each.finish_reason is not None:
                self.finish_reason = str(each.finish_reason)
        self.is_finished = self.is_finished or output.finished

    @property
    def completion_tokens(self) -> int:
        """Return how many tokens were made: as the engine counts them, or over all sequences as they were answered."""
        if self.sequences == 1 and self.state is not None:
            return int(self.state.num_generation_tokens)
        return sum(self._counted.values())


class Exchange:
    """One HTTP request and the engine's requests that were made for it.

    arrived: monotonic seconds at which its headers had been read. wall_arrived: the same instant in seconds of the epoch.
    """

    __slots__ = ("arrived", "engine_requests", "request_id", "wall_arrived", "when_aborted")

    def __init__(self, request_id: str, *, arrived: float, wall_arrived: float) -> None:
        self.request_id = request_id
        self.arrived = arrived
        self.wall_arrived = wall_arrived
        self.engine_requests: list[EngineRequest] = []
        self.when_aborted: Callable[[], None] = _nothing

    def begin(self, engine_request_id: str, *, sequences: int, is_delta: bool) -> EngineRequest:
        """Return where the outputs of a new request to the engine are noted."""
        made = EngineRequest(engine_request_id, sequences=sequences, is_delta=is_delta)
        self.engine_requests.append(made)
        return made

    def note_abort(self, engine_request_id: str, state: Any, *, prompt_tokens: int) -> None:
        """Take what the engine knows of a request that it is about to forget; its client may have left long ago."""
        for each in self.engine_requests:
            if each.engine_request_id == engine_request_id:
                each.state, each.prompt_tokens = state, prompt_tokens
        self.when_aborted()


def _nothing() -> None:
    pass
