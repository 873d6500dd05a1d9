"""Own the worth of an answer to a fixed question, by counting; the text itself is let go."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inference_probe.prober.quality.questions import FixedQuestion

_RUN_WORDS = 4
_NUMBER = re.compile(r"\d+")
_FENCE = re.compile(r"^```(?:json)?\s*|\s*```$")
_KEYS = {"name": str, "count": int, "tags": list}


def repetition_ratio(text: str) -> float | None:
    """Return which part of all runs of four words was there before; None where there is none. A loop comes near 1."""
    words = text.split()
    runs = [tuple(words[at : at + _RUN_WORDS]) for at in range(len(words) - _RUN_WORDS + 1)]
    return 1 - len(set(runs)) / len(runs) if runs else None


def numbers_copied_ratio(text: str, numbers: tuple[str, ...]) -> float:
    """Return which part of `numbers` the text has as whole numbers in their order: the longest common subsequence."""
    found = _NUMBER.findall(text)
    row = [0] * (len(found) + 1)
    for number in numbers:
        before = row
        row = [0]
        for at, each in enumerate(found):
            row.append(before[at] + 1 if each == number else max(before[at + 1], row[at]))
    return row[-1] / len(numbers)


def is_invalid(text: str, question: FixedQuestion) -> bool:
    """Say whether the answer is none: empty, with characters that are no text, or not the JSON that was asked for."""
    if not text.strip() or any(_is_no_text(each) for each in text):
        return True
    return question.kind == "json" and not _is_wanted(text)


def judged(text: str, question: FixedQuestion) -> dict[str, Any]:
    """Return an observation's values on the answer's worth."""
    repeated = repetition_ratio(text)
    return {
        "repetition_ratio": None if repeated is None else round(repeated, 6),
        "numbers_copied_ratio": round(numbers_copied_ratio(text, question.numbers), 6)
        if question.numbers
        else None,
        "invalid_output": is_invalid(text, question),
    }


def _is_no_text(character: str) -> bool:
    return character == "�" or (
        unicodedata.category(character) in {"Cc", "Cn", "Cs"} and character not in "\n\r\t"
    )


def _is_wanted(text: str) -> bool:
    try:
        said = json.loads(_FENCE.sub("", text.strip()))
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and all(
        isinstance(said.get(key), kind) and not isinstance(said.get(key), bool) for key, kind in _KEYS.items()
    )
