"""The committed dashboards: what the sources make, what Grafana's published schema allows, whole in both languages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from dashboards.building import BOARDS, FOLDER, built, drift, write
from dashboards.grafana.sources import UIDS
from dashboards.wording import LANGUAGES, words_of
from fairclock.cli import main
from tests.dashboards.reading import FILES, queries, read, variables

ROOT = Path(__file__).parents[2]
PUBLISHED = json.loads((Path(__file__).parent / "grafana-schema.json").read_text())["schemas"]
# The schema types an annotation's query as the one data source that Grafana brings, and says that it should not.
_OF_ANNOTATIONS = {"target", "titleFormat", "textFormat", "step"}


def problems(tree: Any, name: str) -> list[str]:
    found = jsonschema.Draft7Validator(PUBLISHED[name]).iter_errors(tree)
    return [f"{each.json_path}: {each.message[:200]}" for each in found]


def all_problems(board: Any) -> list[str]:
    """What Grafana's schemas have against a dashboard, its panels' options and how their fields are drawn."""
    marks = [
        {k: v for k, v in each.items() if k not in _OF_ANNOTATIONS} for each in board["annotations"]["list"]
    ]
    found = problems({**board, "annotations": {"list": marks}}, "dashboard")
    for panel in board["panels"]:
        if panel["type"] == "row":
            continue
        found += problems(panel["options"], f"{panel['type']}.options")
        if f"{panel['type']}.custom" in PUBLISHED:
            found += problems(panel["fieldConfig"]["defaults"]["custom"], f"{panel['type']}.custom")
    return found


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return built()


def test_what_is_committed_is_what_the_sources_make(files: dict[str, str]) -> None:
    assert drift(FOLDER, files) == []
    assert len(FILES) == len(files) == len(BOARDS) * len(UIDS) * len(LANGUAGES)


def test_a_changed_a_missing_and_a_stray_file_are_drift(files: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path, files)
    assert drift(tmp_path, files) == []
    names = sorted(files)
    (tmp_path / names[0]).write_text("{}")
    (tmp_path / names[1]).unlink()
    (tmp_path / "en" / "stray.json").write_text("{}")
    assert drift(tmp_path, files) == sorted([names[0], names[1], "en/stray.json"])
    write(tmp_path, files)
    assert drift(tmp_path, files) == []


def test_the_command_writes_checks_and_fails_on_drift(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def ended(*words: str) -> Any:
        with pytest.raises(SystemExit) as stop:
            main(["dashboards", "build", *words])
        return stop.value.code

    assert ended("--check") == 0
    assert ended("-o", str(tmp_path), "--console", "https://fairclock.example/") == 0
    board = read(tmp_path / "en" / "fairclock-tenant.json")
    assert "https://fairclock.example/tenants/${tenant}" in {each["url"] for each in board["links"]}
    assert ended("--check", "-o", str(tmp_path)) == 2
    said = capsys.readouterr().err
    assert "is not what the sources make" in said
    assert "en/fairclock-tenant.json" in said


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_grafanas_published_schema_has_nothing_against_it(path: Path) -> None:
    assert all_problems(read(path)) == []


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("style",), "dark"),
        (("schemaVersion",), "42"),
        (("panels", 1, "gridPos", "w"), "wide"),
        (("panels", 1, "options", "sparkline"), True),
        (("panels", 1, "fieldConfig", "defaults", "thresholds", "mode"), "sometimes"),
    ],
    ids=lambda value: ".".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_what_grafana_does_not_know_is_noticed(where: tuple[Any, ...], value: Any) -> None:
    board = read(FOLDER / "en" / "fairclock-overview.json")
    place = board
    for step in where[:-1]:
        place = place[step]
    place[where[-1]] = value
    assert all_problems(board)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_panels_are_of_today_lie_side_by_side_and_say_how_they_are_measured(path: Path) -> None:
    board = read(path)
    language = words_of(path.parent.name)
    assert board["uid"] == path.stem
    ids = [each["id"] for each in board["panels"]]
    assert len(set(ids)) == len(ids)
    taken: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken
        assert max(x for x, _ in cells) < 24
        taken |= cells
        if panel["type"] == "row":
            continue
        assert panel["type"] in {"stat", "timeseries", "table", "bargauge", "heatmap", "state-timeline"}
        assert language.phrases["measured"] in panel["description"]
        assert panel["fieldConfig"]["defaults"]["noValue"]
        uids = {each["datasource"]["uid"] for each in (panel, *panel["targets"])}
        assert uids == {UIDS["prometheus" if "-prometheus" in board["uid"] else "clickhouse"]}
    assert "[[" not in path.read_text(encoding="utf-8")


def test_both_languages_say_the_same_things_and_nothing_that_nobody_shows() -> None:
    catalogues = [words_of(language) for language in LANGUAGES]
    for part in ("boards", "rows", "variables", "marks", "labels", "states", "phrases"):
        assert len({frozenset(getattr(each, part)) for each in catalogues}) == 1, part
    keys = [{key: frozenset(said) for key, said in each.panels.items()} for each in catalogues]
    assert keys[0] == keys[1]
    panels = {panel.key: panel for board in BOARDS for row in board.rows for panel in row.panels}
    assert set(panels) == set(keys[0])
    for key, panel in panels.items():
        for source in UIDS:
            assert (source in keys[0][key]) == panel.shown_in(source), f"{key} over {source}"
    assert {row.key for board in BOARDS for row in board.rows} == set(catalogues[0].rows)


def test_chinese_dashboards_are_in_chinese() -> None:
    for path in FILES:
        if path.parent.name == "zh":
            board = read(path)
            titles = [each["title"] for each in board["panels"]]
            assert [each for each in titles if not re.search(r"[\u4e00-\u9fff]|^(GPU|XID)$", each)] == []


def test_both_languages_ask_prometheus_the_same() -> None:
    asked = [
        [each.text for each in queries("expr", [path for path in FILES if path.parent.name == language])]
        for language in LANGUAGES
    ]
    assert asked[0] == asked[1] != []


def test_sql_reads_views_that_a_reader_may_read_and_nothing_else() -> None:
    texts = [each.text for each in queries("rawSql")]
    texts += [each["query"] for _, each in variables("clickhouse")]
    read_from = {name for text in texts for name in re.findall(r"\b(?:FROM|(?<!ARRAY )JOIN)\s+(\w+)", text)}
    assert len(read_from) > 10
    assert [name for name in read_from if not name.startswith("dashboard_")] == []


def test_links_lead_to_dashboards_of_the_same_source_and_language() -> None:
    for path in FILES:
        uids = {
            each.stem
            for each in path.parent.glob("*.json")
            if ("-prometheus" in each.stem) == ("-prometheus" in path.stem)
        }
        named = set(re.findall(r'"/d/([\w-]+)', path.read_text(encoding="utf-8")))
        assert named <= uids
        assert len(named) >= len(BOARDS) - 1


def test_provisioning_names_the_uids_that_the_dashboards_ask_for() -> None:
    folder = ROOT / "deploy" / "grafana" / "provisioning"
    sources = yaml.safe_load((folder / "datasources" / "fairclock.yaml").read_text())["datasources"]
    assert {each["uid"]: each["type"] for each in sources} == {
        "fairclock-clickhouse": "grafana-clickhouse-datasource",
        "fairclock-prometheus": "prometheus",
    }
    providers = yaml.safe_load((folder / "dashboards" / "fairclock.yaml").read_text())["providers"]
    assert {Path(each["options"]["path"]).name for each in providers} == set(LANGUAGES)
