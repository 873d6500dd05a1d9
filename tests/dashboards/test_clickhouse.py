"""Every ClickHouse query of every dashboard, on the real engine, over two tenants' data; and that it says what reports say."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from fairclock.store import Query, open_store
from sla.evaluation import evaluate
from sla.slices import InForce, keep_terms_of
from tests.console.scene import MINE
from tests.dashboards.expanding import Range, in_sql
from tests.dashboards.reading import FILES, FOLDER, queries, read, variables
from tests.dashboards.scene import a_shown_scene
from tests.evaluation.factories import a_contract

IN_ENGLISH = [path for path in FILES if path.parent.name == "en"]
CONTRACT = "acme-agreement"
CHOSEN = {
    "contract": [CONTRACT],
    "zone": ["Asia/Shanghai"],
    "tenant": [MINE],
    "engine": ["10.0.0.1:8000"],
    "host": ["node-1"],
}
EVERYTHING = {
    each["name"]: each["allValue"] for _, each in variables("clickhouse") if each.get("allValue") is not None
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('dashboards') / 'store'}") as store:
        yield a_shown_scene(store, datetime.now(UTC))


@pytest.fixture(scope="module")
def whole(shown):
    return Range(start=shown.start, end=shown.end)


def ask(shown, text, chosen=CHOSEN, window=None):
    window = window or Range(start=shown.start, end=shown.end)
    return shown.store.rows(Query(sql=in_sql(text, chosen, window)))


def says_something(rows):
    """Whether some cell that is no name, instant or text holds a number that is one."""
    cells = [cell for row in rows for cell in row]
    assert not any(isinstance(cell, float) and not math.isfinite(cell) for cell in cells)
    return any(cell is not None and cell != "" for row in rows for cell in row[-1:]) or any(
        isinstance(cell, int | float) for cell in cells
    )


@pytest.mark.parametrize("asked", list(queries("rawSql")), ids=lambda each: each.where)
def test_every_query_of_a_panel_has_an_answer(shown, asked):
    assert says_something(ask(shown, asked.text))
    assert not asked.text.rstrip().endswith(";")


@pytest.mark.parametrize("asked", list(queries("rawSql", IN_ENGLISH)), ids=lambda each: each.where)
def test_everything_can_be_chosen_and_nothing_is_no_error(shown, asked):
    assert says_something(ask(shown, asked.text, CHOSEN | EVERYTHING))
    nobody = {name: ["nobody"] for name in CHOSEN} | {"zone": ["Asia/Shanghai"]}
    ask(shown, asked.text, nobody)


@pytest.mark.parametrize(
    "variable", [pytest.param(each, id=where) for where, each in variables("clickhouse", IN_ENGLISH)]
)
def test_every_variable_has_choices(shown, variable):
    found = ask(shown, variable["query"])
    assert found
    assert all(len(row) == 1 and row[0] for row in found)


def test_series_have_a_time_a_name_and_a_value(shown):
    seen = 0
    for asked in queries("rawSql"):
        if asked.target["queryType"] == "timeseries":
            rows = ask(shown, asked.text)
            assert all(isinstance(row[0], datetime) for row in rows), asked.where
            assert [row[0] for row in rows] == sorted(row[0] for row in rows), asked.where
            seen += 1
    assert seen > 20


# --- the same number as the report


@pytest.fixture(scope="module")
def report(shown):
    return evaluate(
        shown.store,
        shown.scene.contracts[0],
        month=shown.scene.month,
        as_of=shown.as_of,
        software_version="0.0.0",
    )


@pytest.fixture(scope="module")
def month(shown):
    """The range that Grafana would be in if somebody chose the days of the report's month: it ends a second early."""
    period = shown.scene.contracts[0][0].month(shown.scene.month)
    return Range(start=period.start, end=period.end - timedelta(milliseconds=1), interval=timedelta(hours=1))


def of_panel(title, *, board="tenant", kind=None):
    """The query of the one panel with this title in English, and of this kind where several have it."""
    panels = read(FOLDER / "en" / f"fairclock-{board}.json")["panels"]
    (found,) = [
        each
        for each in panels
        if each["title"] == title and kind in {None, each["type"]} and "targets" in each
    ]
    return found["targets"][0]["rawSql"]


def test_every_clock_is_the_reports(shown, report, month):
    rows = ask(shown, of_panel("Every clock"), window=month)
    found = [tuple(row[1:]) for row in rows]
    assert found == [
        (each["n"], each["p50"], each["p95"], each["p99"], each["max"]) for each in report["latency"]
    ]
    assert len(found) == 9


def test_outcomes_and_requests_are_the_reports(shown, report, month):
    said = {name: count for name, count in report["traffic"]["outcomes"].items() if count}
    assert dict(ask(shown, of_panel("Outcomes in all"), window=month)) == said
    assert ask(shown, of_panel("Requests"), window=month) == [(report["traffic"]["admitted"],)]


def test_promises_and_budgets_are_the_reports(shown, report, month):
    left = {each["objective"]: each for each in report["error_budgets"]}
    found = {row[0]: row for row in ask(shown, of_panel("Promises"), window=month)}
    assert set(found) == {each["name"] for each in report["objectives"]}
    for each in report["objectives"]:
        _, clock, threshold, counted, over, allowed, ratio, state = found[each["name"]]
        assert (clock or None, counted, over, allowed) == (
            each["clock"],
            each["n"],
            each["violations"],
            each["allowed"],
        )
        assert threshold == (each["threshold"] if each["kind"] == "latency" else None)
        budget = left[each["name"]]["remaining_ratio"]
        assert ratio == (None if budget is None else pytest.approx(budget, abs=1e-12))
        assert state == ("at_risk" if each["verdict"] == "violated" else "within")


def test_coverage_is_the_reports(shown, report, month):
    ((gateway, engine, joined),) = ask(shown, of_panel("Coverage", kind="stat"), window=month)
    said = report["coverage"]
    assert gateway == pytest.approx(said["gateway"], abs=1e-9)
    assert engine == pytest.approx(said["engine"], abs=1e-9)
    assert joined == pytest.approx(said["joined"], abs=1e-12)


def test_days_are_the_contracts_days_and_say_what_the_reports_say(shown, report, month):
    found = {row[0]: row[1:] for row in ask(shown, of_panel("Days, in the contract's zone"), window=month)}
    said = {each["date"]: each for each in report["daily"] if each["n"]}
    assert set(found) == set(said)
    for day, (_, answered, with_queue, without_queue) in found.items():
        each = said[day]
        assert (answered, with_queue, without_queue) == (
            each["n"],
            each["p99_with_queue"],
            each["p99_without_queue"],
        )


def test_a_months_link_leads_to_exactly_that_month(shown):
    contract = a_contract(term={"from": "2026-01-01", "to": "2099-12-31", "time_zone": "Asia/Shanghai"})
    found = ask(shown, of_panel("Months, in the contract's zone"))
    for month, start_ms, end_ms, _ in found:
        period = contract.month(month[:7])
        assert (start_ms, end_ms) == tuple(
            round(each.timestamp() * 1000) for each in (period.start, period.end)
        )
    # traffic that began with a month has none in the one before, of which the range has a minute
    assert [(sum(row[3] for row in found),)] == ask(shown, of_panel("Requests"))


def test_charges_are_the_reports(shown, report, month):
    ((currency, net),) = ask(shown, of_panel("Charged, net", board="cost"), window=month)
    assert currency == report["cost"]["currency"]
    assert f"{net:.2f}" == report["cost"]["net"]


def test_a_contracts_own_words_for_outcomes_its_scope_and_its_clock_are_the_views(shown):
    ruled = a_contract(
        id="ruled",
        customer={"name": "Acme", "tenants": [MINE]},
        term={"from": "2026-01-01", "to": "2099-12-31", "time_zone": "Etc/UTC"},
        scope={"models": ["deepseek-v4"]},
        clock={"start": "connected"},
        outcomes=[{"status": 500, "is": "client_error"}],
    )
    elsewhere = ruled.model_copy(
        update={"id": "elsewhere", "scope": ruled.scope.model_copy(update={"models": ("other",)})}
    )
    keep_terms_of(shown.store, [InForce(contract=ruled), InForce(contract=elsewhere)])
    # of the hour with the errors: the traffic may have begun in the month before
    month = f"{shown.scene.began + timedelta(hours=1):%Y-%m}"
    period = ruled.month(month)
    said = evaluate(shown.store, [ruled], month=month, as_of=shown.as_of, software_version="0.0.0")
    window = Range(start=period.start, end=period.end)
    found = dict(ask(shown, of_panel("Outcomes in all"), CHOSEN | {"contract": ["ruled"]}, window))
    assert found == {name: count for name, count in said["traffic"]["outcomes"].items() if count}
    assert "client_error" in found
    clocks = ask(shown, of_panel("Every clock"), CHOSEN | {"contract": ["ruled"]}, window)
    assert [row[4] for row in clocks] == [each["p99"] for each in said["latency"]]
    assert ask(shown, of_panel("Outcomes in all"), CHOSEN | {"contract": ["elsewhere"]}, window) == []


def test_a_contract_whose_file_changed_is_not_counted_twice(shown, month):
    before = ask(shown, of_panel("Requests"), window=month)
    versions = shown.scene.contracts[0]
    terms = shown.store.rows(
        Query(sql="SELECT count() FROM contract_terms WHERE contract = 'acme-agreement'")
    )
    assert keep_terms_of(shown.store, [InForce(contract=versions[0])]) == 0
    renamed = versions[0].model_copy(
        update={"title": versions[0].title.model_copy(update={"en": "Another title"})}
    )
    renamed._version_sha256 = versions[0].version_sha256
    assert keep_terms_of(shown.store, [InForce(contract=renamed)]) == 1
    assert shown.store.rows(
        Query(sql="SELECT count() FROM dashboard_versions WHERE contract = 'acme-agreement'")
    ) == [(1,)]
    assert terms == [(1,)]
    assert ask(shown, of_panel("Requests"), window=month) == before
