"""Scripted months: a person reads them, the product plays them. README.md beside says what is written how."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fairclock.store import open_store
from tests.scripted.language import ScriptError, read_script
from tests.scripted.playing import Play

if TYPE_CHECKING:
    from collections.abc import Generator

    from fairclock.store import Store

FOLDER = Path(__file__).parent
SCRIPTS = sorted(FOLDER.glob("*.test"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Generator[Store]:
    with open_store(f"chdb://{tmp_path_factory.mktemp('scripted') / 'store'}") as opened:
        yield opened


@pytest.mark.parametrize("script", [pytest.param(path, id=path.stem) for path in SCRIPTS])
def test_a_month_comes_out_as_it_is_written(script: Path, store: Store, tmp_path: Path) -> None:
    shown = script.relative_to(FOLDER.parents[1])
    play = Play(path=shown, store=store, folder=tmp_path)
    wrong = play.failures
    try:
        play.run(read_script(shown, script.read_text(encoding="utf-8")))
    except ScriptError as error:
        wrong = [*wrong, str(error)]
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)
