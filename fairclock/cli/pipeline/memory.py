"""Own what a long-running command does about memory: what a burst needed goes back, and what stays is not looked through."""

from __future__ import annotations

import ctypes
import gc


def give_back_memory() -> None:
    """Return free memory to the system, where the C library can: glibc keeps what a burst took, for ever."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def spare_what_stays() -> None:
    """Keep the garbage collector from walking the program itself: all threads, and so every scrape, wait while it does."""
    gc.collect()
    gc.freeze()
