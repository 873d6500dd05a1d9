"""Own how often a law is tried that costs an engine's queries each time."""

from __future__ import annotations

import os


def examples(few: int, *, soak: int) -> int:
    """Return how many examples a law gets: `few` in ``make test``, `soak` in ``make soak``."""
    return soak if os.environ.get("FAIRCLOCK_HYPOTHESIS") == "soak" else few
