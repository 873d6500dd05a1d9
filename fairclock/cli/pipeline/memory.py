"""Own that memory which a burst needed goes back to the system afterwards."""

from __future__ import annotations

import ctypes


def give_back_memory() -> None:
    """Return free memory to the system, where the C library can: glibc keeps what a burst took, for ever."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
