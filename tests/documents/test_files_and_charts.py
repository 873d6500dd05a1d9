"""Documents appear whole; charts place what they are given and nothing else."""

from __future__ import annotations

import itertools
import re
import stat
from fractions import Fraction
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.documents.charts import Series, evenly, line_chart, scale_for
from fairclock.documents.files import write_whole
from fairclock.errors import DocumentError

if TYPE_CHECKING:
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"


def chart(
    values: list[Fraction | None], *, threshold: tuple[Fraction, str] | None = None, name: str = "a"
) -> ET.Element:
    drawing = line_chart(
        title="<title> & more",
        axis=("seconds", "seconds, log"),
        across=evenly([str(index) for index in range(len(values))]),
        series=[Series(name=name, colour="#000000", is_broken=False, values=values)],
        threshold=threshold,
        font_family="'Noto Sans'",
    )
    return ET.fromstring(drawing)


def test_a_file_appears_with_its_whole_content_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.json"
    write_whole(path, b"first")
    write_whole(path, b"second")
    assert path.read_bytes() == b"second"
    assert [each.name for each in path.parent.iterdir()] == ["report.json"]
    assert not path.stat().st_mode & stat.S_IXUSR


def test_where_nothing_can_be_written_the_old_file_stays_and_the_reason_is_said(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.mkdir()
    with pytest.raises(DocumentError, match=r"could not be written \(Is a directory\)"):
        write_whole(target, b"x")
    assert [each.name for each in tmp_path.iterdir()] == ["report.json"]


def test_a_path_through_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DocumentError, match="could not be written"):
        write_whole(tmp_path / "file" / "report.json", b"x")


def test_a_chart_is_well_formed_and_its_title_is_text() -> None:
    drawing = chart([Fraction(1), Fraction(2)], name="<script>")
    assert drawing.find(f"{SVG}title").text == "<title> & more"
    assert "<script>" in [each.text for each in drawing.iter(f"{SVG}text")]


def test_a_day_without_a_figure_is_a_gap_in_the_line() -> None:
    lines = list(chart([Fraction(1), Fraction(2), None, Fraction(3)]).iter(f"{SVG}polyline"))
    assert [len(each.get("points").split()) for each in lines] == [2, 1]


def test_the_threshold_is_drawn_at_its_value() -> None:
    drawing = chart([Fraction(1), Fraction(4)], threshold=(Fraction(2), "threshold 2 s"))
    dashed = next(each for each in drawing.iter(f"{SVG}line") if each.get("stroke-dasharray"))
    tick = next(each for each in drawing.iter(f"{SVG}text") if each.text == "2")
    assert float(dashed.get("y1")) == pytest.approx(float(tick.get("y")) - 3.2, abs=0.11)


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        pytest.param([1.62, 1.99, 2.0], [0, 0.5, 1, 1.5, 2], id="round steps up to the largest value"),
        pytest.param([0.0], [0, 0.2, 0.4, 0.6, 0.8, 1], id="nothing but zero still has an axis"),
        pytest.param([], [0, 0.2, 0.4, 0.6, 0.8, 1], id="no value at all still has an axis"),
        pytest.param(
            [0.0002, 60.0], [0.0001, 0.001, 0.01, 0.1, 1, 10, 100], id="a very wide one by powers of ten"
        ),
        pytest.param([0.2, 60.0], [0.2, 0.5, 1, 2, 5, 10, 20, 50, 100], id="a wide range is logarithmic"),
    ],
)
def test_ticks(values: list[float], ticks: list[float]) -> None:
    assert scale_for(values, bottom=100, top=0).ticks == pytest.approx(ticks)


@given(st.lists(st.floats(min_value=1e-6, max_value=1e6), min_size=1))
def test_every_value_lies_inside_the_plot(values: list[float]) -> None:
    scale = scale_for(values, bottom=100, top=0)
    assert all(-1e-6 <= scale.place(value) <= 100 + 1e-6 for value in values)


@given(st.lists(st.fractions(min_value=0, max_value=10), min_size=1, max_size=31))
def test_labels_at_the_lines_ends_never_touch(values: list[Fraction]) -> None:
    drawing = line_chart(
        title="t",
        axis=("s", "s"),
        across=evenly([str(index) for index in range(len(values))]),
        series=[
            Series(name=name, colour="#000000", is_broken=False, values=values) for name in ("one", "two")
        ],
        threshold=(values[-1], "three"),
        font_family="x",
    )
    heights = sorted(
        float(y) for y, name in re.findall(r'<text x="[\d.]+" y="([\d.-]+)"[^>]*>(one|two|three)<', drawing)
    )
    assert len(heights) == 3
    assert all(later - earlier >= 12.8 for earlier, later in itertools.pairwise(heights))
