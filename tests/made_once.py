"""Own folders that are made once for a whole run of the tests, however many processes it has."""

from __future__ import annotations

import fcntl
import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest


def copy_of_made(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a copy, this process's own, of the folder that `make` fills; whoever needs it first makes it, the others wait.

    No store in it may be open when `make` returns, and nothing in it may say where it lies.
    """
    base = factory.getbasetemp()
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    made = run / f"{name}-made-once"
    with (run / f"{name}-made-once.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            partial = run / f"{name}-partial"
            shutil.rmtree(partial, ignore_errors=True)  # of a process that failed
            partial.mkdir()
            make(partial)
            partial.rename(made)
    # a store's folder holds links, all of them relative
    return shutil.copytree(made, factory.mktemp(name) / name, symlinks=True)
