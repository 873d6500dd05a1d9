"""Own the prober's own limit on open files: probes that wait for a service that stands still each hold a connection."""

from __future__ import annotations

import contextlib
import resource


def allow_many_files() -> int:
    """Raise this process's limit as far as it may be raised, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return soft
