"""Every alert that Fairclock raises has a page, every page belongs to one, and messages lead there."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from exporters.webhooks.runbooks import runbook_url
from fairclock.errors import StoreReadOnly
from fairclock.model import Interval
from fairclock.store.disks import Disk, disks
from sla.alerting.configuration import TAKEN, AlertsSection
from sla.alerting.disks import disk_watches
from sla.alerting.watches import BURN_RUNBOOK
from sla.alerts import Holds, default_rules
from sla.health_rules import HEALTH_RULES, health_group
from sla.prometheus_rules import RUNBOOKS
from tests.alert_rules.test_rules import a_file, checked, printed
from tests.webhooks.factories import good_event

ROOT = Path(__file__).parents[2]
PAGES = {path.stem: path.read_text() for path in (ROOT / "docs" / "runbooks").glob("*.md") if path.stem != "README"}  # fmt: skip
BURNS = {"burn-1h", "burn-6h", "burn-3d"}
OWN = {
    **{rule: rule for rule in TAKEN},
    **dict.fromkeys(BURNS, BURN_RUNBOOK),
    **dict.fromkeys(("disk-low", "disk-full"), "store-disk"),
}
PROMETHEUS = {**RUNBOOKS, **{rule.name: rule.page for rule in HEALTH_RULES}}
BASE = "https://wiki.example/runbooks"


@pytest.mark.parametrize(("alert", "page"), sorted((OWN | PROMETHEUS).items()))
def test_an_alert_has_a_page_that_names_it(alert, page):
    assert f"`{alert}`" in PAGES[page].splitlines()[2]


@pytest.mark.parametrize("page", sorted(PAGES))
def test_a_page_says_what_it_means_where_to_look_and_what_to_do(page):
    assert page in {*OWN.values(), *PROMETHEUS.values()}
    assert re.findall(r"^## (.*)$", PAGES[page], re.MULTILINE) == ["What it means", "Look", "Do", "Afterwards"]  # fmt: skip
    assert f"[{page}]({page}.md)" in (ROOT / "docs" / "runbooks" / "README.md").read_text()


def test_the_usual_rules_on_budgets_are_those_that_the_page_names():
    month = Interval(start=datetime(2026, 10, 1, tzinfo=UTC), end=datetime(2026, 11, 1, tzinfo=UTC))
    assert {rule.name for rule in default_rules(Fraction(1, 1000), month)[0]} == BURNS


@pytest.mark.parametrize(
    ("event", "base", "url"),
    [
        pytest.param(good_event(runbook="kv-cache"), BASE, f"{BASE}/kv-cache.md", id="a page under the address"),
        pytest.param(good_event(runbook="kv-cache"), f"{BASE}/", f"{BASE}/kv-cache.md", id="one slash, however it is written"),
        pytest.param(good_event(runbook="kv-cache"), None, None, id="nobody said where pages are"),
        pytest.param(good_event(runbook=None), BASE, None, id="a sample has no page"),
    ],
)  # fmt: skip
def test_a_message_leads_to_the_page(event, base, url):
    assert runbook_url(event, base) == url


def test_prometheus_rules_lead_to_the_pages_and_promtool_takes_them(tmp_path, capsys):
    out, _ = printed(capsys, a_file(tmp_path), "--health", "--runbooks", BASE)
    rules = [rule for group in yaml.safe_load(out)["groups"] for rule in group["rules"] if "alert" in rule]
    assert {rule["alert"] for rule in rules} == set(PROMETHEUS)
    assert {rule["annotations"]["runbook_url"] for rule in rules} == {f"{BASE}/{page}.md" for page in PROMETHEUS.values()}  # fmt: skip
    path = tmp_path / "rules.yaml"
    path.write_text(out)
    checked("promtool", "check", "rules", path)


def test_rules_on_health_need_no_contract_and_lead_to_a_path_where_nobody_said_where_pages_are(capsys):
    out, _ = printed(capsys, "--health")
    assert yaml.safe_load(out) == {"groups": [health_group()]}
    assert "runbook_url" not in out
    paths = [rule["annotations"]["runbook"] for rule in health_group()["rules"]]
    assert [path for path in paths if not (ROOT / path).is_file()] == []


def test_the_first_row_that_is_lost_or_cannot_be_read_is_told_and_an_old_one_no_more(tmp_path):
    first = {
        "FairclockDeadLetters": 'fairclock_dead_letters{source="a",reason="r"}',
        "FairclockLostData": 'fairclock_refused_rows_total{reason="r"}',
    }
    summaries = {rule["alert"]: rule["annotations"] for rule in health_group()["rules"]}
    labels = {"FairclockDeadLetters": {"source": "a", "reason": "r"}, "FairclockLostData": {"reason": "r"}}
    severities = {rule.name: rule.severity for rule in HEALTH_RULES}

    def told(name):
        said = {
            key: re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda found: labels[name].get(found[1], ""), text)
            for key, text in summaries[name].items()
        }
        return {"exp_labels": {**labels[name], "severity": severities[name]}, "exp_annotations": said}

    tests = {
        "rule_files": [str(ROOT / "deploy" / "prometheus" / "rules" / "health.yml")],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                # nothing for ten minutes, then three rows, and never more
                "input_series": [{"series": series, "values": "_x9 3x300"} for series in first.values()],
                "alert_rule_test": [
                    {"eval_time": at, "alertname": name, "exp_alerts": [told(name)] if holds else []}
                    for name in first
                    for at, holds in (("5m", False), ("15m", True), ("200m", False))
                ],
            }
        ],
    }
    path = tmp_path / "test.yaml"
    path.write_text(yaml.safe_dump(tests))
    checked("promtool", "test", "rules", path)


def test_the_deployments_rules_are_those_that_are_printed():
    """Write them anew with: fairclock alerts rules --health > deploy/prometheus/rules/health.yml."""
    shipped = yaml.safe_load((ROOT / "deploy" / "prometheus" / "rules" / "health.yml").read_text())
    assert shipped == {"groups": [health_group()]}


def test_the_deployments_rules_on_contracts_lead_to_pages_that_name_them():
    shipped = yaml.safe_load((ROOT / "deploy" / "prometheus" / "rules" / "contracts.yml").read_text())
    rules = {
        rule["alert"]: rule["annotations"]["runbook"]
        for group in shipped["groups"]
        for rule in group["rules"]
    }
    assert [
        alert for alert, path in rules.items() if f"`{alert}`" not in PAGES[Path(path).stem].splitlines()[2]
    ] == []


def room(free, total=1_000):
    return SimpleNamespace(rows=lambda query: [("default", free, total)])


@pytest.mark.parametrize(
    ("free", "holding"),
    [
        pytest.param(100, set(), id="a tenth is enough"),
        pytest.param(99, {"disk-low"}, id="less than a tenth warns"),
        pytest.param(49, {"disk-low", "disk-full"}, id="less than a twentieth is critical"),
        pytest.param(-5, {"disk-low", "disk-full"}, id="what is set aside is not free"),
    ],
)
def test_a_disk_that_fills_up_is_told(free, holding):
    watches = list(disk_watches(SimpleNamespace(store=room(free)), AlertsSection()))
    assert {each.key.rule for each in watches if each.condition.holds is Holds.YES} == holding
    assert {each.runbook for each in watches} == {"store-disk"}
    assert {each.key.rule: each.severity for each in watches} == {"disk-low": "warning", "disk-full": "critical"}  # fmt: skip


def test_an_account_that_may_not_look_at_disks_is_told_nothing_of_them():
    def denied(query):
        raise StoreReadOnly("clickhouse://there", "it takes no writes", found="ACCESS_DENIED")

    assert list(disk_watches(SimpleNamespace(store=SimpleNamespace(rows=denied)), AlertsSection())) == []


def test_what_a_disk_has_free_is_a_share_of_all_of_it():
    assert disks(room(250)) == [Disk(name="default", free_bytes=250, total_bytes=1_000)]
    assert disks(room(250))[0].free_ratio == Fraction(1, 4)
