"""Own what is said of an error that the system or a library raised."""

from __future__ import annotations


def words_of(error: Exception) -> str:
    """Return what `error` says, without the numbers before it; the name of its class where it says nothing."""
    text = str(error)
    at = text.rfind("[Errno ")
    if at >= 0:
        text = text[at:].partition("] ")[2]
    return text or type(error).__name__
