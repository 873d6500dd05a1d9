"""Own the reading of an OpenAI-compatible answer: when its tokens came, how many, and whether it was whole.

A chunk is no token: where the service counts as it goes (`continuous_usage_stats`) a token is given its instant by that
count, else by nothing. Text is looked at and let go; it is kept only where its worth is to be judged.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

_LARGEST_EVENT_BYTES = 16 << 20
_TRUTH = "fairclock"
_CONTENT = ("content", "text", "refusal")
_REASONING = ("reasoning_content", "reasoning")


@dataclass(slots=True, kw_only=True)
class Tokens:
    """What an answer has shown so far; instants are the caller's. `is_finished`: it said why it ended, or [DONE]."""

    first_token: float | None = None
    first_reasoning_token: float | None = None
    last_content: float | None = None
    instants: list[float] = field(default_factory=list)
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    finish_reason: str = ""
    error: str = ""
    is_finished: bool = False
    is_nonsense: bool = False
    truth: dict[str, Any] | None = None
    text: str = ""


class TokenStream:
    """Read the body of one answer; `streams`: as server-sent events, else as one JSON object."""

    def __init__(self, *, streams: bool, keeps_text: bool = False) -> None:
        self.tokens = Tokens()
        self._streams = streams
        self._keeps_text = keeps_text
        self._pieces: list[str] = []
        self._buffer = bytearray()
        self._event = ""
        self._counts: bool | None = None

    def take(self, data: bytes, at: float) -> None:
        """Take some bytes of the body that came at the instant `at`."""
        self._buffer += data
        if len(self._buffer) > _LARGEST_EVENT_BYTES:
            self.tokens.is_nonsense = True
            self._buffer.clear()
        if not self._streams:
            return
        while (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end]).rstrip(b"\r")
            del self._buffer[: end + 1]
            self._line(line, at)

    def end(self) -> None:
        """Take note that the body is over, and read it where it is one object."""
        if not self._streams:
            said = _object(bytes(self._buffer))
            if said is None:
                self.tokens.is_nonsense = True
            else:
                self._message(said, None)
        self._buffer.clear()
        self.tokens.text = "".join(self._pieces)

    def _line(self, line: bytes, at: float) -> None:
        if not line:
            self._event = ""
        elif line.startswith(b"event:"):
            self._event = line[6:].strip().decode("utf-8", "replace")
        elif line.startswith(b"data:"):
            content = line[5:].strip()
            if content == b"[DONE]":
                self.tokens.is_finished = True
                return
            said = _object(content)
            if said is None:
                self.tokens.is_nonsense = True
            elif self._event == _TRUTH:
                self.tokens.truth = said
            else:
                self._message(said, at)

    def _message(self, said: dict[str, Any], at: float | None) -> None:
        """Take one chunk, or a whole answer, for which `at` is None: when its tokens came nobody knows."""
        tokens = self.tokens
        if isinstance(said.get(_TRUTH), dict):
            tokens.truth = said[_TRUTH]
        if said.get("error"):
            tokens.error = _error(said["error"])
            return
        choices = said.get("choices")
        if not isinstance(choices, list):
            tokens.is_nonsense = True
            return
        for choice in choices:
            if isinstance(choice, dict):
                self._choice(choice, at)
        usage = said.get("usage")
        if isinstance(usage, dict):
            if self._counts is None:
                self._counts = True
            self._usage(usage, at if choices and self._counts else None)
        elif self._counts is None and (tokens.first_token or tokens.first_reasoning_token) is not None:
            self._counts = (
                False  # a count that comes later sums up what came before, and is no token's instant
            )

    def _choice(self, choice: dict[str, Any], at: float | None) -> None:
        tokens = self.tokens
        parts = choice.get("delta") or choice.get("message") or choice
        if not isinstance(parts, dict):
            tokens.is_nonsense = True
            return
        content = "".join(_text(parts.get(name)) for name in _CONTENT)
        is_content = bool(content) or bool(parts.get("tool_calls"))
        if self._keeps_text:
            self._pieces.append(content)
        if at is not None and is_content:
            tokens.last_content = at
            if tokens.first_token is None:
                tokens.first_token = at
        is_reasoning = any(_text(parts.get(name)) for name in _REASONING)
        if at is not None and is_reasoning and tokens.first_reasoning_token is None:
            tokens.first_reasoning_token = at
        if choice.get("finish_reason"):
            tokens.finish_reason = str(choice["finish_reason"])[:40]
            if at is None:
                tokens.is_finished = True

    def _usage(self, usage: dict[str, Any], at: float | None) -> None:
        tokens = self.tokens
        if (prompt := _count(usage.get("prompt_tokens"))) is not None:
            tokens.prompt_tokens = prompt
        details = usage.get("prompt_tokens_details")
        if isinstance(details, dict) and (cached := _count(details.get("cached_tokens"))) is not None:
            tokens.cached_tokens = cached
        completed = _count(usage.get("completion_tokens"))
        if completed is None:
            return
        new = completed - (tokens.completion_tokens or 0)
        tokens.completion_tokens = max(completed, tokens.completion_tokens or 0)
        if at is not None and new > 0:
            tokens.instants.extend([at] * new)


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _error(said: Any) -> str:
    """Return the class of an error, never its message: that may quote the prompt."""
    if isinstance(said, dict):
        return str(said.get("type") or said.get("code") or "error")[:80]
    return "error"
