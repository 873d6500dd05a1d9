"""``fairclock alerts list`` and ``rules`` as commands: stored states with their reasons, folders of versions."""

from __future__ import annotations

import json

import pytest
import yaml
from click.testing import CliRunner

from fairclock.cli import _root
from tests.alert_engine.scene import Scene
from tests.alert_rules.test_rules import a_file
from tests.webhooks.test_alerts_command import Borrowed


@pytest.fixture
def alerts(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FAIRCLOCK_CONFIG", raising=False)

    def run(*words):
        result = CliRunner().invoke(_root, ["alerts", *map(str, words)], standalone_mode=False)
        assert result.exception is None, result.exception
        return result

    return run


def test_states_are_listed_with_why_they_are_frozen(store, alerts, monkeypatch):
    monkeypatch.setattr("fairclock.cli.alerts.open_store", lambda dsn: Borrowed(store))
    scene = Scene(store, gap={"enabled": False}, queue_share={"above": "0%", "min_requests": 1})
    scene.log(0, minutes=60).log(60, bad=30, minutes=10).look(70)
    scene.look(82)
    lines = alerts("list").stdout.splitlines()
    place = next(
        number for number, line in enumerate(lines) if "frozen" in line and "availability/burn-1h" in line
    )
    assert "critical" in lines[place]
    assert lines[place + 1].startswith("    frozen, because: only ")
    listed = json.loads(alerts("list", "--json").stdout)["alerts"]
    burn = next(each for each in listed if each["rule"] == "burn-1h")
    assert (burn["state"], burn["since"], burn["contract"]) == ("frozen", "2026-10-14T04:10:00Z", "acme-2026")
    assert "of the window was read through" in burn["frozen_reason"]
    assert burn["summary_en"].startswith("availability of acme-2026 uses up its error budget at ")
    fired = json.loads(alerts("list", "--all", "--json").stdout)["alerts"]
    assert [each["state"] for each in fired if each["rule"] == "burn-1h"] == ["firing", "frozen"]


@pytest.mark.parametrize(
    ("starts", "taken"),
    [
        (["2020-01-01", "2024-01-01"], "2024"),
        (["2020-01-01", "2199-01-01"], "2020"),
        (["2198-01-01", "2199-01-01"], "2198"),
    ],
    ids=[
        "the later one is in force",
        "the later one is still to come",
        "none has begun: the first that will",
    ],
)
def test_of_a_folder_of_versions_the_one_in_force_is_taken(alerts, tmp_path, starts, taken):
    folder = tmp_path / "versions"
    for start in starts:
        (folder / start).mkdir(parents=True)
        written = a_file(
            folder / start,
            term={
                "from": start,
                "to": "2199-12-31",
                "time_zone": "Etc/UTC",
            },
            objectives=[
                {"name": start[:4], "availability": {"formula": "request_ratio", "target": "99.9%"}},
            ],
        )
        written.rename(folder / f"{start}.yaml")
        (folder / start).rmdir()
    tree = yaml.safe_load(alerts("rules", folder).stdout)
    names = {rule["labels"].get("objective") for group in tree["groups"] for rule in group["rules"]} - {None}
    assert names == {taken}
