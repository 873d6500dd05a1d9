"""A real store, held by the test's process, and the command line beside it."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from fairclock.cli import main
from fairclock.store import open_store

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from fairclock.store import Store


@dataclass(frozen=True)
class Said:
    """What a command wrote and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@dataclass(frozen=True)
class Fairclock:
    """Run commands in this process on the store that it holds."""

    store: Store

    def __call__(self, *words: object, code: int = 0) -> Said:
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.raises(SystemExit) as end,
        ):
            main([*map(str, words), "--dsn", self.store.dsn])
        said = Said(code=int(end.value.code or 0), out=out.getvalue(), err=err.getvalue())
        assert said.code == code, said
        return said


@pytest.fixture(scope="module")
def fairclock(tmp_path_factory: pytest.TempPathFactory) -> Generator[Fairclock]:
    folder: Path = tmp_path_factory.mktemp("store")
    with open_store(f"chdb://{folder}") as store:
        yield Fairclock(store)
