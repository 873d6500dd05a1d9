"""Own what is asked: synthetic prompts of a wanted length, never anybody's text."""

from __future__ import annotations

import random
from dataclasses import dataclass

_WORDS = (
    "clock", "queue", "token", "engine", "promise", "minute", "second", "prompt", "answer", "first", "last", "measure", "count",
    "late", "early", "wait", "serve", "line", "node", "batch", "cache", "model", "layer", "state", "start", "stop", "sum",
    "rank", "share", "budget", "window", "rate",
)  # fmt: skip
TYPICAL_TOKENS_A_WORD = 1.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """How many tokens a text of so many words takes at an endpoint: `fixed` for what it adds, and some a word."""

    fixed: float = 0.0
    tokens_a_word: float = TYPICAL_TOKENS_A_WORD

    def words(self, tokens: int) -> int:
        """Return how many words make a prompt of about `tokens` tokens; at least one."""
        return max(1, round((tokens - self.fixed) / self.tokens_a_word))


def measured(short: tuple[int, int], long: tuple[int, int]) -> Lengths:
    """Return the lengths that two prompts, each (words, tokens as the endpoint counted them), show."""
    words = long[0] - short[0]
    slope = (long[1] - short[1]) / words if words else 0.0
    if slope <= 0:
        return Lengths()
    return Lengths(fixed=max(0.0, short[1] - slope * short[0]), tokens_a_word=slope)


def synthetic_prompt(words: int, *, seed: int, number: int) -> str:
    """Return so many words, the same for the same seed and number.

    It begins with words of the number's own, so that no prefix cache answers for an earlier probe.
    """
    chance = random.Random(f"{seed}/{number}")  # noqa: S311 - a text, not a secret
    return " ".join(chance.choices(_WORDS, k=words))
