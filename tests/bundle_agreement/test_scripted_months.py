"""Two implementations that must agree: scripted months judged by Fairclock, and recomputed by verify.py from their bundles."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fairclock import __version__
from fairclock.errors import NotEvaluable
from fairclock.store import open_store
from sla.bundle import write_bundle
from sla.contracts.versions import load_versions
from sla.evaluation import evaluate
from sla.revisions import with_revision
from tests.scripted.commands import Heard
from tests.scripted.language import read_script
from tests.scripted.playing import Play

if TYPE_CHECKING:
    from collections.abc import Generator

    from fairclock.store import Store
    from sla.contracts import Contract
    from tests.scripted.language import Statement

SCRIPTED = Path(__file__).parents[1] / "scripted"
CHOSEN = {
    "anniversary": "months that begin on the term's day",
    "caps": "caps dealt in a cut month",
    "clocks_back": "a day of 25 hours",
    "connected": "a clock that starts with the handshake",
    "recurring_when_clocks_change": "windows that recur as clocks change",
    "versions": "a month that two versions judge",
}
IN_THE_RICH_MONTH = {
    "carry_over": "requests handed on from month to month",
    "failed_probes": "outages that silence the gateway",
    "outcomes": "answers that the contract calls otherwise",
    "quota": "refusals below the quota",
    "small_intervals": "intervals merged for want of requests",
    "speed": "windows of speeds",
}
"""Scripts of what the rich month of tests/bundle has as well."""


class Bundled(Play):
    """A script of which the month that was judged last is bundled; what it expects is held against it elsewhere."""

    def last(self, folder: Path) -> Path:
        for versions, month, as_of in reversed(self._asked):
            try:
                report = evaluate(
                    self.store, versions, month=month, as_of=as_of, software_version=__version__
                )
            except NotEvaluable:
                continue
            report = with_revision(self.store, report)
            known = datetime.fromisoformat(report["as_of"])
            return write_bundle(self.store, versions, report, folder, as_of=known)
        raise AssertionError("no month of the script can be judged")

    @cached_property
    def _asked(self) -> list[tuple[list[Contract], str, datetime | None]]:
        return []

    def _report(self, month: str, as_of: datetime | None) -> Heard:
        versions = load_versions(self._newest if len(self._versions) == 1 else self._contracts)
        self._asked.append((versions, month, as_of))
        return Heard(code=0, out="{}", err="")

    def _do_lint(self, _: Statement) -> None:
        pass

    def _do_expect(self, _: Statement) -> None:
        pass


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Generator[Store]:
    with open_store(f"chdb://{tmp_path_factory.mktemp('scripted') / 'store'}") as opened:
        yield opened


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, id=about) for name, about in CHOSEN.items()),
        *(pytest.param(name, id=about, marks=pytest.mark.soak) for name, about in IN_THE_RICH_MONTH.items()),
    ],
)
def test_both_come_to_the_same(name, store, verify, tmp_path):
    play = Bundled(path=SCRIPTED / f"{name}.test", store=store, folder=tmp_path)
    play.run(read_script(play.path, play.path.read_text(encoding="utf-8")))
    bundle = verify.Bundle(play.last(tmp_path))
    found, problems = verify.recomputed(bundle)
    assert verify.altered_files(bundle.folder) + problems == []
    assert verify.compare(bundle.json("report.json"), found)[2] == []
