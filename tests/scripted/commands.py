"""Own the running of Fairclock's commands in this process, on the store that the test holds."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.cli import main

if TYPE_CHECKING:
    from fairclock.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


def said(store: Store, *words: object) -> Heard:
    """Run a command, however it ends."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([*map(str, words), "--dsn", store.dsn])
        except SystemExit as end:
            code = int(end.code or 0)
    return Heard(code=code, out=out.getvalue(), err=err.getvalue())


def done(store: Store, *words: object) -> Heard:
    """Run a command that has to succeed; raises ValueError where it does not."""
    heard = said(store, *words)
    if heard.code:
        raise ValueError(f"fairclock {' '.join(map(str, words))} ended with {heard.code}: {heard.err}")
    return heard
