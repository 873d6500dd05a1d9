"""OpenSLO v1: what a contract can say in it comes back as it went, and what it cannot is named."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from fairclock.cli.contract import command
from fairclock.errors import InputError
from sla.contracts import CostObjective, load_contract
from sla.openslo import export_openslo, import_openslo
from tests.evaluation.factories import a_contract, availability, latency

COMPLETE = Path(__file__).parents[2] / "examples/contracts/acme-2026.yaml"

percents = st.integers(1, 99_999).map(lambda thousandths: f"{thousandths / 1000:.3f}".rstrip("0").rstrip("."))
durations = st.builds(lambda n, unit: f"{n}{unit}", st.integers(1, 999), st.sampled_from(["s", "m", "h"]))
names = st.text("abcdef p99-", min_size=1, max_size=12).map(str.strip).filter(bool)
promises = st.one_of(
    st.builds(
        lambda p, at_most, window: {
            "latency": {"clock": "inference", "percentile": p, "at_most": at_most}
            | ({"window": window, "combine": "worst"} if window else {})
        },
        percents,
        durations,
        st.none() | durations,
    ),
    st.builds(lambda p: {"availability": {"formula": "request_ratio", "target": f"{p}%"}}, percents),
    st.builds(
        lambda p, limit, length: {
            "availability": {
                "formula": "downtime",
                "interval": length,
                "bad_above": f"{limit}%",
                "consecutive": "3",
                "empty": "bad",
                "target": f"{p}%",
            }
        },
        percents,
        percents,
        durations,
    ),
    st.builds(
        lambda speed, share, length: {
            "rate": {
                "clock": "output_tokens_per_second",
                "at_least": speed,
                "window": length,
                "statistic": "p50",
                "windows_met": f"{share}%",
            }
        },
        percents,
        percents,
        durations,
    ),
)
conditions = st.sampled_from(
    [{}, {"during": "peak"}, {"where": {"stream": "true", "prompt_tokens": {"below": "512"}}}]
)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(names, promises, conditions), min_size=1, max_size=5, unique_by=lambda each: each[0])
)
def test_objectives_come_back_as_they_went(given_promises):
    contract = a_contract(
        calendar={"peak": [{"days": "mon-fri", "from": "09:30", "to": "11:30"}]},
        objectives=[{"name": name} | promise | more for name, promise, more in given_promises],
    )
    imported = import_openslo(export_openslo(contract).text)
    again = a_contract(
        calendar={"peak": [{"days": "mon-fri", "from": "09:30", "to": "11:30"}]},
        objectives=imported.objectives,
    )
    assert again.objectives == contract.objectives
    assert imported.not_carried == []


def test_the_complete_example_carries_all_but_its_cost_and_names_what_stays_behind():
    contract = load_contract(COMPLETE)
    exported = export_openslo(contract)
    documents = list(yaml.safe_load_all(exported.text))
    kept = [each for each in contract.objectives if not isinstance(each, CostObjective)]
    assert [each["metadata"]["displayName"] for each in documents] == [each.name for each in kept]
    assert len({each["metadata"]["name"] for each in documents}) == len(documents)
    for path in ("clock", "unmeasured", "exclusions", "credits", "objectives[12]"):
        assert path in exported.not_carried
        assert f"# not carried: {path}\n" in exported.text


def test_what_others_can_read_is_there_in_openslos_own_words():
    contract = a_contract(objectives=[latency(at_most="1.5s"), availability("99.9%")])
    first, second = yaml.safe_load_all(export_openslo(contract).text)
    assert first["apiVersion"] == "openslo/v1"
    assert first["spec"]["objectives"] == [{"op": "lte", "value": 1.5, "target": 0.99}]
    assert second["spec"]["objectives"] == [{"target": 0.999}]
    assert second["spec"]["budgetingMethod"] == "Occurrences"
    assert second["spec"]["timeWindow"] == [
        {
            "duration": "1M",
            "isRolling": False,
            "calendar": {"startTime": "2026-01-01 00:00:00", "timeZone": "Asia/Shanghai"},
        }
    ]


FOREIGN = """\
apiVersion: openslo/v1
kind: SLO
metadata: {name: web, displayName: Web}
spec:
  service: web
  indicator:
    metadata: {name: good}
    spec:
      ratioMetric:
        counter: true
        good: {metricSource: {type: Prometheus, spec: {query: good}}}
        total: {metricSource: {type: Prometheus, spec: {query: total}}}
  timeWindow: [{duration: 28d, isRolling: true}]
  budgetingMethod: METHOD
  objectives: [{target: 0.9990, timeSliceTarget: 0.95, timeSliceWindow: 1m}]
---
apiVersion: openslo/v1
kind: Service
metadata: {name: web}
"""


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("Occurrences", {"formula": "request_ratio", "target": "99.9%"}),
        ("RatioTimeslices", {"formula": "mean_interval_error", "interval": "1m", "target": "99.9%"}),
        ("Timeslices", {"formula": "downtime", "interval": "1m", "bad_above": "5%", "target": "99.9%"}),
    ],
)
def test_numbers_of_others_are_taken_over_and_the_rest_is_named(method, expected):
    imported = import_openslo(FOREIGN.replace("METHOD", method))
    assert imported.objectives == [{"name": "Web", "availability": expected}]
    assert "document 2: kind Service" in imported.not_carried
    assert any("28d" in each for each in imported.not_carried)
    assert any("spec.indicator" in each for each in imported.not_carried)
    assert all(f"# not carried: {each}\n" in imported.text for each in imported.not_carried)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("apiVersion: openslo/v2\nkind: SLO\n", "is not OpenSLO v1"),
        ("- a list\n", "is not OpenSLO v1"),
        ("{", "not YAML"),
        ("apiVersion: openslo/v1\nkind: Service\n", "there is no objective"),
        ("", "there is no objective"),
    ],
)
def test_what_is_no_openslo_is_refused(text, problem):
    with pytest.raises(InputError, match=problem):
        import_openslo(text)


def test_the_commands_print_the_text_and_name_what_is_left_on_stderr(tmp_path):
    runner = CliRunner()
    exported = runner.invoke(command, ["export-openslo", str(COMPLETE)])
    assert exported.exit_code == 0
    assert "not carried: clock" in exported.stderr
    file = tmp_path / "slo.yaml"
    file.write_text(exported.stdout, encoding="utf-8")
    imported = runner.invoke(command, ["import-openslo", str(file)])
    assert imported.exit_code == 0
    assert "# clock: {start: received}" in imported.stdout
    assert "time_zone: Asia/Shanghai" in imported.stdout
    names = [each["name"] for each in yaml.safe_load(imported.stdout)["objectives"]]
    assert names == [each.name for each in load_contract(COMPLETE).objectives][:-1]
