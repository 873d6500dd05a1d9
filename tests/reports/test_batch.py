"""Many reports in one run: each ends once, one failure is no other's, and few are in memory at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairclock.errors import DocumentError
from sla.reports import write_reports
from sla.reports.batch import Batch, Drawing, Drawn
from tests.reports import factories
from tests.reports.dying import DyingDrawing

if TYPE_CHECKING:
    from pathlib import Path


def contract(name: str) -> dict[str, Any]:
    return factories.report(contract={"id": name})


def drawn(drawing: Drawing, reports: list[dict[str, Any]], *, jobs: int = 2) -> dict[int, Drawn]:
    ends: list[Drawn] = []
    with Batch(drawing=drawing, jobs=jobs, tell=ends.append) as batch:
        for key, report in enumerate(reports):
            batch.draw(key, report)
    assert len({each.key for each in ends}) == len(ends) == len(reports)
    return {each.key: each for each in ends}


def test_what_is_drawn_beside_is_what_is_drawn_here(tmp_path: Path) -> None:
    reports = [contract("one"), factories.chinese(), contract("three")]
    drawing = Drawing(formats=["html", "csv"], languages=["en", "zh"], directory=tmp_path / "beside")
    ends = drawn(drawing, reports)
    for key, report in enumerate(reports):
        here = write_reports(
            report, formats=["html", "csv"], languages=["en", "zh"], directory=tmp_path / "here"
        )
        assert [path.name for path in ends[key].paths] == [path.name for path in here]
        assert [path.read_bytes() for path in ends[key].paths] == [path.read_bytes() for path in here]


def test_one_that_cannot_be_drawn_stops_no_other_and_says_why(tmp_path: Path) -> None:
    reports = [contract("first"), contract("../up"), contract("last")]
    ends = drawn(Drawing(formats=["html"], languages=["en"], directory=tmp_path), reports)
    assert [ends[key].error is None for key in range(3)] == [True, False, True]
    assert isinstance(ends[1].error, DocumentError)
    assert "cannot be a file name" in str(ends[1].error)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first-2026-10.html", "last-2026-10.html"]


def test_a_fault_in_drawing_is_told_as_a_fault(tmp_path: Path) -> None:
    broken = contract("broken")
    del broken["traffic"]
    ends = drawn(Drawing(formats=["html"], languages=["en"], directory=tmp_path), [broken, contract("good")])
    assert "it could not be drawn (KeyError: 'traffic')" in str(ends[0].error)
    assert ends[1].error is None


@pytest.mark.integration
@pytest.mark.parametrize("place", range(4))
def test_a_process_that_dies_takes_down_no_report_but_its_own(tmp_path: Path, place: int) -> None:
    names = ["a", "b", "c"]
    names.insert(place, "deadly")
    drawing = DyingDrawing(formats=["html"], languages=["en"], directory=tmp_path)
    ends = drawn(drawing, [contract(name) for name in names])
    assert [key for key, each in ends.items() if each.error is not None] == [place]
    assert "the process that drew it was ended" in str(ends[place].error)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{each}-2026-10.html" for each in "abc"]


def test_a_folder_that_cannot_be_written_is_named_before_anything_is_drawn(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    drawing = Drawing(formats=["html"], languages=["en"], directory=tmp_path / "file" / "reports")
    with (
        pytest.raises(DocumentError, match="file/reports: the document could not be written"),
        Batch(drawing=drawing, jobs=1, tell=lambda _: None),
    ):
        pass


def test_few_reports_wait_at_a_time(tmp_path: Path) -> None:
    ends: list[Drawn] = []
    with Batch(
        drawing=Drawing(formats=["html"], languages=["en"], directory=tmp_path), jobs=1, tell=ends.append
    ) as batch:
        for key in range(8):
            batch.draw(key, contract(f"c{key}"))
            assert key + 1 - len(ends) <= 2


def test_after_an_error_in_who_asks_nothing_more_is_told(tmp_path: Path) -> None:
    ends: list[Drawn] = []

    def interrupted() -> None:
        drawing = Drawing(formats=["html"], languages=["en"], directory=tmp_path)
        with Batch(drawing=drawing, jobs=1, tell=ends.append) as batch:
            batch.draw(0, contract("c"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert ends == []
