"""Own the fixed questions: what is asked, and what kind of answer counts as one."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

Kind = Literal["copy", "json", "prose"]
_NUMBERS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedQuestion:
    """One question. `numbers` have to be in the answer, in their order; kind: what the answer has to be."""

    kind: Kind
    prompt: str
    numbers: tuple[str, ...] = ()


def fixed_questions() -> tuple[FixedQuestion, ...]:
    """Return the questions, the same in every run and version of the program."""
    return (*map(_copy, range(4)), *map(_json, range(3)), *_PROSE)


def _copy(seed: int) -> FixedQuestion:
    chance = random.Random(f"numbers {seed}")  # noqa: S311 - a fixed text, not a secret
    numbers = tuple(str(chance.randrange(10_000, 100_000)) for _ in range(_NUMBERS))
    listed = ", ".join(numbers)
    return FixedQuestion(
        kind="copy",
        prompt=f"Repeat these numbers exactly, in this order, separated by commas, and write nothing else: {listed}",
        numbers=numbers,
    )


def _json(seed: int) -> FixedQuestion:
    return FixedQuestion(
        kind="json",
        prompt="Answer with one JSON object and nothing else. It has the keys name (a text), count (a whole number) and "
        f"tags (a list of texts). The name is probe-{seed}, the count is {seed + 3}, the tags are red and blue.",
    )


_PROSE = tuple(
    FixedQuestion(kind="prose", prompt=prompt)
    for prompt in (
        "Explain in five sentences why a queue grows when work arrives faster than it is done.",
        "Describe in five sentences how a clock is set by another clock over a network.",
        "Say in five sentences what happens between pressing a light switch and the light.",
    )
)
