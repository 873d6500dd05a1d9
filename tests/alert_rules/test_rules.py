"""Prometheus takes the rules, and they fire as Fairclock's own would; Alertmanager takes the configuration."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from fairclock.cli import main
from sla.contracts import load_contract
from sla.prometheus_rules import METRIC, rule_groups

ROOT = Path(__file__).parents[2]
HOSTILE = "p99 \"peak\" \\ {{ $x }} '一' } or vector(1) #"


def a_file(folder: Path, **clauses: object) -> Path:
    tree = {
        "apiVersion": "fairclock/v1",
        "kind": "Contract",
        "id": "acme-2026",
        "title": "Inference",
        "provider": {"name": "Example Cloud"},
        "customer": {"name": "Acme", "tenants": ["acme"]},
        "term": {"from": "2026-01-01", "to": "2026-12-31", "time_zone": "Etc/UTC"},
        "clock": {"start": "received"},
        "objectives": [
            {"name": "availability", "availability": {"formula": "request_ratio", "target": "99.9%"}},
            {"name": HOSTILE, "latency": {"clock": "end_to_end", "percentile": 99, "at_most": "2s"}},
        ],
        "insufficient": {"below": 1, "verdict": "void"},
        "unmeasured": {"coverage_floor": "0%", "below_floor": "void"},
    }
    path = folder / "acme-2026.yaml"
    path.write_text(yaml.safe_dump(tree | clauses, sort_keys=False))
    return path


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["alerts", "rules", *map(str, words)])
    assert stop.value.code == 0
    captured = capsys.readouterr()
    return captured.out, captured.err


def checked(*words: object) -> None:
    program = shutil.which(str(words[0]))
    assert program, f"{words[0]} is missing: scripts/debian-packages test installs it"
    done = subprocess.run([program, *map(str, words[1:])], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lint error" not in done.stdout + done.stderr, done.stdout + done.stderr


def test_thresholds_follow_from_the_share_and_the_month(tmp_path):
    contract = load_contract(a_file(tmp_path))
    groups, refused = rule_groups(contract, contract.month("2026-10"))
    burns = [rule for rule in groups[1]["rules"] if rule["labels"].get("objective") == "availability"]
    assert [rule["labels"]["rule"] for rule in burns] == ["burn-1h", "burn-6h", "burn-3d"]
    assert ">= 0.01488 and" in burns[0]["expr"]
    assert refused == []


def test_a_lax_objective_loses_the_rules_it_cannot_reach_and_says_so(tmp_path, capsys):
    path = a_file(
        tmp_path,
        objectives=[
            {"name": "p50", "latency": {"clock": "end_to_end", "percentile": 50, "at_most": "2s"}},
            {"name": "a", "availability": {"formula": "request_ratio", "target": "99%"}},
        ],
    )
    out, err = printed(capsys, path)
    mine = [
        r
        for g in yaml.safe_load(out)["groups"]
        for r in g["rules"]
        if "alert" in r and r["labels"].get("objective") == "p50"
    ]
    assert all(float(rule["expr"].split(">= ")[1].split()[0]) <= 1 for rule in mine)
    assert len(mine) == 1
    assert err.startswith("acme-2026: burn-1h is left out: a burn rate of")


def test_two_contracts_of_one_name_are_refused(tmp_path, capsys):
    path = a_file(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main(["alerts", "rules", str(path), str(path)])
    assert stop.value.code == 2
    assert "acme-2026" in capsys.readouterr().err


@pytest.mark.integration
def test_promtool_takes_the_rules_of_every_example(tmp_path, capsys):
    paths = [*sorted((ROOT / "examples" / "contracts").glob("*.yaml")), a_file(tmp_path, id="other")]
    rules = tmp_path / "rules.yml"
    rules.write_text(printed(capsys, *paths)[0])
    checked("promtool", "check", "rules", rules)


@pytest.mark.integration
def test_promtool_sees_them_fire_and_stay_quiet(tmp_path, capsys):
    rules = tmp_path / "rules.yml"
    rules.write_text(printed(capsys, a_file(tmp_path))[0])

    def series(objective: str, counted: str, values: str) -> dict[str, str]:
        labels = f'contract="acme-2026",objective={yaml_text(objective)},counted="{counted}"'
        return {"series": f"{METRIC}{{{labels}}}", "values": values}

    covered = {
        "series": 'fairclock_sli_covered_seconds_total{contract="acme-2026",side="gateway"}',
        "values": "0+60x600",
    }
    test = {
        "rule_files": [rules.name],
        "evaluation_interval": "1m",
        "tests": [
            {
                "name": "both windows burn",
                "interval": "1m",
                "input_series": [
                    covered,
                    series("availability", "good", "0+90x600"),
                    series("availability", "bad", "0+10x600"),
                    series(HOSTILE, "good", "0+100x600"),
                    series(HOSTILE, "bad", "0+0x600"),
                ],
                "promql_expr_test": [
                    {
                        "expr": f"count(ALERTS{{alertname='FairclockBudgetBurn',objective={yaml_text(HOSTILE)}}}) or vector(0)",
                        "eval_time": "2h",
                        "exp_samples": [{"labels": "{}", "value": 0}],
                    },
                    {
                        "expr": "count(ALERTS{alertname='FairclockBudgetBurn',objective='availability',alertstate='firing',rule='burn-1h'})",
                        "eval_time": "2h",
                        "exp_samples": [{"labels": "{}", "value": 1}],
                    },
                ],
            },
            {
                "name": "one error at night, and then nobody measures",
                "interval": "1m",
                "input_series": [
                    {**covered, "values": "0+60x120 7200x480"},
                    series("availability", "good", "0x600"),
                    series("availability", "bad", "0x60 1x540"),
                ],
                "promql_expr_test": [
                    {
                        "expr": "count(ALERTS{alertname='FairclockBudgetBurn'}) or vector(0)",
                        "eval_time": "65m",
                        "exp_samples": [{"labels": "{}", "value": 0}],
                    },
                    {
                        "expr": "count(ALERTS{alertname='FairclockNotMeasured',alertstate='firing'})",
                        "eval_time": "3h",
                        "exp_samples": [{"labels": "{}", "value": 1}],
                    },
                    {
                        "expr": "count(ALERTS{alertname='FairclockNotMeasured'}) or vector(0)",
                        "eval_time": "1h",
                        "exp_samples": [{"labels": "{}", "value": 0}],
                    },
                ],
            },
        ],
    }  # fmt: skip
    path = tmp_path / "tests.yml"
    path.write_text(yaml.safe_dump(test, allow_unicode=True, width=1000))
    checked("promtool", "test", "rules", path)


@pytest.mark.integration
def test_amtool_takes_the_configuration(tmp_path, capsys):
    out, _ = printed(capsys, a_file(tmp_path), "--alertmanager", "http://127.0.0.1:9/alerts")
    path = tmp_path / "alertmanager.yml"
    path.write_text(out)
    checked("amtool", "check-config", path)


def yaml_text(text: str) -> str:
    """Return a text as PromQL quotes it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
