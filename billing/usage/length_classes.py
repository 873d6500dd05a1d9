"""Own how long a prompt is, in words: the classes that costs are compared by."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthClass:
    """Prompts of `from_tokens` tokens and more, up to where the next class begins."""

    name: str
    from_tokens: int


LENGTH_CLASSES = (
    LengthClass(name="short", from_tokens=0),
    LengthClass(name="medium", from_tokens=512),
    LengthClass(name="long", from_tokens=2048),
)
"""What is taken where nobody says otherwise. A prompt whose length nobody knows is of the class ""."""
