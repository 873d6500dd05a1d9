"""Own the reading of an OpenAI-compatible answer: when its tokens came, how many, and whether it was whole.

A chunk is no token: where the service counts as it goes (`continuous_usage_stats`) a token is given its instant by that
count, else by nothing. Text is looked at and let go; it is kept only where its worth is to be judged.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

_LARGEST_EVENT_BYTES = 16 << 20
_LARGEST_COUNT = (1 << 32) - 1
_MOST_COUNTED_TOKENS = 1 << 20
"""A service that counts further than anybody may ask gives no token an instant."""

_LONGEST_WORD, _LONGEST_NAME = 200, 80
_TRUTH = "fairclock"
_CONTENT = ("content", "text", "refusal")
_REASONING = ("reasoning_content", "reasoning")


@dataclass(slots=True, kw_only=True)
class Tokens:
    """What an answer has shown so far; instants are the caller's.

    is_finished: a stream said [DONE], a whole answer why it ended. is_nonsense: it is none, or has no choice in it.
    truth: what the service says of itself, as far as it is numbers that are any and short words.
    """

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
        self._lines: list[bytes] = []
        self._lines_at = 0.0
        self._counts: bool | None = None
        self._chunks = 0
        self._has_choice = False

    def take(self, data: bytes, at: float) -> None:
        """Take some bytes of the body that came at the instant `at`."""
        self._buffer += data
        if len(self._buffer) + sum(map(len, self._lines)) > _LARGEST_EVENT_BYTES:
            self.tokens.is_nonsense = True
            self._buffer.clear()
            self._lines.clear()
        if not self._streams:
            return
        while (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end]).rstrip(b"\r")
            del self._buffer[: end + 1]
            self._line(line, at)

    def end(self) -> None:
        """Take note that the body is over, and read it where it is one object."""
        if self._streams:
            self._line(bytes(self._buffer).rstrip(b"\r"), self._lines_at)
            self._line(b"", self._lines_at)  # the last event may lack its empty line
        else:
            said = _object(bytes(self._buffer))
            if said is None:
                self.tokens.is_nonsense = True
            else:
                self._message(said, None)
        self._buffer.clear()
        if not (self._has_choice or self.tokens.error):
            self.tokens.is_nonsense = True
        self.tokens.text = "".join(self._pieces)

    def _line(self, line: bytes, at: float) -> None:
        if not line:
            self._dispatch()
            self._event = ""
        elif line.startswith(b"event:"):
            self._event = line[6:].strip().decode("utf-8", "replace")
        elif line.startswith(b"data:"):
            self._lines.append(line[5:].strip())
            self._lines_at = at

    def _dispatch(self) -> None:
        """Read an event, whose data may be written over several lines; some write events without an empty line between."""
        lines, self._lines = self._lines, []
        joined = _object(b"\n".join(lines)) if len(lines) > 1 else None
        if joined is not None:
            self._said(joined)
            return
        for line in lines:
            if line == b"[DONE]":
                self.tokens.is_finished = True
            else:
                self._said(_object(line))

    def _said(self, said: dict[str, Any] | None) -> None:
        if said is None:
            self.tokens.is_nonsense = True
        elif self._event == _TRUTH:
            self.tokens.truth = _truth(said)
        else:
            self._message(said, self._lines_at)

    def _message(self, said: dict[str, Any], at: float | None) -> None:
        """Take one chunk, or a whole answer, for which `at` is None: when its tokens came nobody knows."""
        tokens = self.tokens
        if isinstance(said.get(_TRUTH), dict):
            tokens.truth = _truth(said[_TRUTH])
        if said.get("error"):
            tokens.error = _error(said["error"])
            return
        usage = said.get("usage")
        choices = said.get("choices")
        if choices is None and isinstance(usage, dict):
            choices = []  # some sum up without any
        if not isinstance(choices, list):
            tokens.is_nonsense = True
            return
        for choice in choices:
            if isinstance(choice, dict):
                self._has_choice = True
                self._choice(choice, at)
        self._chunks += bool(choices)
        if isinstance(usage, dict):
            if self._counts is None:
                self._counts = _count(usage.get("completion_tokens")) is not None
            self._usage(usage, at if choices and self._counts else None)
        elif self._counts is None and choices and not (self._chunks == 1 and _is_role_alone(choices)):
            # a count that comes later sums up what came before, and is no token's instant
            self._counts = False

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
            tokens.finish_reason = _word(str(choice["finish_reason"]), 40)
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
        if completed > _MOST_COUNTED_TOKENS:
            self._counts = False
            tokens.instants.clear()
        elif at is not None and new > 0:
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
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_COUNT
        else None
    )


def _error(said: Any) -> str:
    """Return the class of an error, never its message: that may quote the prompt."""
    if isinstance(said, dict):
        return _word(str(said.get("type") or said.get("code") or "error"), 80)
    return "error"


def _is_role_alone(choices: list[Any]) -> bool:
    deltas: list[Any] = [each.get("delta") for each in choices if isinstance(each, dict)]
    return all(isinstance(each, dict) and each.get("role") for each in deltas) and not any(
        _text(each.get(name)) for each in deltas for name in (*_CONTENT, *_REASONING)
    )


def _truth(said: dict[str, Any]) -> dict[str, Any]:
    """Return what can be kept of a service's words: it may be any service, and what is no number breaks the run's file."""
    return {
        _word(name, _LONGEST_NAME): _word(value, _LONGEST_WORD) if isinstance(value, str) else value
        for name, value in said.items()
        if value is None or isinstance(value, str) or _is_number(value)
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) <= _LARGEST_COUNT  # nan is not


def _word(text: str, most: int) -> str:
    """Return the beginning of a text, without halves of characters: they cannot be written."""
    return text[:most].encode("utf-8", "replace").decode("utf-8")
