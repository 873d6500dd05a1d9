"""Each rule of lint finds what it is for, and is silent beside it."""

import ast
import re
from pathlib import Path

import pytest

import fairclock.clauses
import sla.contracts
from fairclock.errors import ContractError
from sla.contracts import lint, lint_examination, require_lintable
from sla.contracts.lint.wording import PHRASES, chinese
from tests.contracts.factories import ABSENT, examined, good_contract, latency

PERIODS = {"peak": [{"days": "mon-fri", "from": "09:30", "to": "11:30"}]}
CAPS = {
    "objectives.3": latency("queue-cap", clock="queue"),
    "objectives.4": latency("outside-cap", clock="outside"),
}
DOWNTIME = {"formula": "downtime", "interval": "1m", "empty": "bad", "target": "99%"}


def tier(below=None, credit="10%", objective="availability", **more):
    return {"objective": objective, "credit": credit, **({"below": below} if below else {}), **more}


def credits_of(*tiers, **more):
    return {"credits": {"tiers": list(tiers), "tier": "lowest_only", "same_cause": "highest_only", **more}}


def claim(closes, opens="1 day after month end"):
    return {"claim": {"required": "true", "opens": opens, "closes": closes}}


def found(changes=None) -> list[tuple[str, str]]:
    return [(finding.rule, finding.severity) for finding in lint(good_contract(changes))]


def test_a_good_contract_has_no_findings():
    assert found() == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param(
            {"objectives.2": latency(clock="inference")},
            [("uncapped-clock", "error")] * 2,
            id="inference without caps on queue and outside",
        ),
        pytest.param(
            {"objectives.2": latency(clock="excluding_queue")},
            [("uncapped-clock", "error")] * 2,
            id="excluding_queue without caps",
        ),
        pytest.param(
            {
                "objectives.2": latency(),
                "objectives.3": latency("queue-cap", clock="queue"),
            },
            [("uncapped-clock", "error")],
            id="inference with a cap on queue only",
        ),
        pytest.param({"objectives.2": latency(), **CAPS}, [], id="inference with both caps"),
        pytest.param(
            {"objectives.2": latency(), **CAPS, "objectives.4.during": "peak"},
            [("uncapped-clock", "error")],
            id="a cap that holds at other times is none",
        ),
        pytest.param(
            {"objectives.2": latency(), **CAPS, "objectives.3.where": {"models": ["small"]}},
            [("uncapped-clock", "error")],
            id="a cap on other requests is none",
        ),
        pytest.param(
            {"objectives.2": latency(during="peak"), **CAPS, "objectives.3.during": "peak"},
            [],
            id="a cap at the same times is one",
        ),
        pytest.param(
            {"objectives.1": latency("p95", clock="end_to_end")},
            [("latency-without-availability", "error")],
            id="latency without availability",
        ),
        pytest.param(
            {"objectives.1.during": "not peak"},
            [("latency-without-availability", "error")],
            id="availability at other times than the latency",
        ),
        pytest.param(
            {"objectives.1.during": "peak"}, [], id="availability at the same times as the latency is enough"
        ),
        pytest.param(
            {"objectives.2": {"name": "up", "availability": DOWNTIME}},
            [("downtime-without-error-ratio", "error")],
            id="availability by time without an error ratio",
        ),
        pytest.param(
            {"objectives.2": {"name": "up", "availability": {**DOWNTIME, "bad_above": "5%"}}},
            [],
            id="availability by time with an error ratio",
        ),
        pytest.param(
            {"objectives.1.availability.target": "100%"},
            [("target-of-100", "error")],
            id="an availability of 100 %",
        ),
        pytest.param(
            {"objectives.1.availability.target": "99.999999%"}, [], id="an availability just below 100 %"
        ),
        pytest.param(
            {"objectives.0.latency.percentile": "100"}, [("target-of-100", "error")], id="a percentile of 100"
        ),
        pytest.param(
            {"exclusions": {"maintenance": {}, "cold_start": {}, "client_network": {}}},
            [("uncapped-exclusion", "error")] * 3,
            id="exclusions without caps",
        ),
        pytest.param(
            {"exclusions": {"maintenance": {"cap_per_month": "4h"}, "named": ["force_majeure"]}},
            [],
            id="exclusions with caps, and named ones, which have none",
        ),
        pytest.param(
            credits_of(tier("99%", "10%"), tier("99%", "20%")),
            [("contradictory-tiers", "error")],
            id="two tiers below one ratio",
        ),
        pytest.param(
            credits_of(tier("99%", "10%"), tier("98%", "10%")),
            [("contradictory-tiers", "error")],
            id="a deeper tier that pays no more",
        ),
        pytest.param(
            credits_of(tier("99.95%", "10%")),
            [("contradictory-tiers", "error")],
            id="a tier that pays although the target is reached",
        ),
        pytest.param(
            credits_of(tier("99%", "10%"), tier(violated="true")),
            [("contradictory-tiers", "error")],
            id="a tier by ratio and one by violation",
        ),
        pytest.param(credits_of(tier("99.9%", "10%"), tier("99%", "25%")), [], id="tiers that deepen"),
        pytest.param(
            credits_of(tier("99%", "101%")), [("credits-above-100", "error")], id="a credit above 100 %"
        ),
        pytest.param(
            credits_of(tier("99%", "10%"), cap="150%"),
            [("credits-above-100", "error")],
            id="a cap above 100 %",
        ),
        pytest.param(
            credits_of(tier("99%", "60%"), tier(credit="50%", objective="p99", violated="true")),
            [("credits-above-100", "error")],
            id="credits of two objectives that add up to more than 100 %",
        ),
        pytest.param(
            credits_of(tier("99%", "60%"), tier(credit="50%", objective="p99", violated="true"), cap="100%"),
            [],
            id="the same with a cap",
        ),
        pytest.param(
            credits_of(tier("99%", "40%"), tier("98%", "70%"), tier="sum"),
            [("credits-above-100", "error")],
            id="tiers that add up to more than 100 %",
        ),
        pytest.param(
            {"quality": {"levels": [{"name": "low", "modes": ["int8"], "credit": "120%"}]}},
            [("credits-above-100", "error")],
            id="a quality level that pays more than 100 %",
        ),
        pytest.param(
            {"expected_requests_per_month": "999"},
            [("percentile-without-volume", "warning")],
            id="P99 of 999 requests",
        ),
        pytest.param({"expected_requests_per_month": "1000"}, [], id="P99 of 1,000 requests"),
        pytest.param(
            {"objectives.0.latency.percentile": "99.9", "expected_requests_per_month": "9999"},
            [("percentile-without-volume", "warning")],
            id="P99.9 of 9,999 requests",
        ),
        pytest.param(
            {
                "objectives.0.latency.window": "5m",
                "objectives.0.latency.combine": "worst",
                "expected_requests_per_month": "1000000",
            },
            [("percentile-without-volume", "warning")],
            id="P99 of each five minutes of a million requests a month",
        ),
        pytest.param(
            {"objectives.0.latency.window": "5m", "objectives.0.latency.combine": "mean"},
            [("averaged-percentiles", "warning")],
            id="a mean of percentiles",
        ),
        pytest.param(
            {"objectives.0.latency.at_most": "1.5ms"},
            [("threshold-finer-than-source", "warning")],
            id="a threshold between two milliseconds",
        ),
        pytest.param(
            {"objectives.2": latency("tpot", clock="time_per_output_token", at_most="12.5ms")},
            [],
            id="the same on a clock of the engine",
        ),
        pytest.param({"term.time_zone": "+08:00"}, [("zone-by-offset", "warning")], id="a zone by offset"),
        pytest.param(
            {"term.time_zone": "Etc/GMT-8"}, [("zone-by-offset", "warning")], id="an offset by another name"
        ),
        pytest.param({"term.time_zone": "UTC"}, [], id="UTC is no offset"),
        pytest.param({"quota": ABSENT}, [("no-quota", "warning")], id="no quota"),
        pytest.param(
            {"calendar.night": [{"days": "mon-sun", "from": "22:00", "to": "06:00"}]},
            [("unused-period", "warning")],
            id="a period that nothing uses",
        ),
        pytest.param(
            {"calendar.holidays": "CN", "calendar.peak.0.days": "workdays", "term.to": "2098-12-31"},
            [("holidays-not-on-record", "warning")] * 72,
            id="years of the term whose holidays were not announced",
        ),
        pytest.param(
            {"calendar.holidays": "CN", "term.to": "2098-12-31"},
            [],
            id="the same where nobody asks for workdays",
        ),
        pytest.param(
            {"credits": {"tiers": [tier("99%"), tier(objective="p99", violated="true")]}},
            [("same-cause-unanswered", "warning")],
            id="one outage and two credits, and nothing said about both",
        ),
        pytest.param(
            credits_of(tier("99%"), **claim("3 days after month end")),
            [("claim-closes-early", "warning")],
            id="a claim that closes before late data is in",
        ),
        pytest.param(
            credits_of(tier("99%"), **claim("2 weeks after month end", "1 month after month end")),
            [("claim-closes-early", "warning")],
            id="a claim that closes before it opens",
        ),
        pytest.param(
            credits_of(tier("99%"), **claim("2 months after month end")),
            [],
            id="a claim that stays open for two months",
        ),
    ],
)
def test_a_rule_finds_what_it_is_for(changes, expected):
    assert found(changes) == expected


def test_a_contract_with_lint_errors_is_refused_with_all_of_them():
    contract = good_contract({"objectives.1.availability.target": "100%", "exclusions": {"cold_start": {}}})
    with pytest.raises(ContractError) as refusal:
        require_lintable(contract)
    assert [problem.split(":")[0] for problem in refusal.value.problems] == [
        "exclusions.cold_start",
        "objectives[1].availability.target",
    ]


def test_warnings_refuse_nothing():
    require_lintable(good_contract({"quota": ABSENT}))


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        pytest.param(
            {"qouta": {"requests_per_minute": "1"}, "quota": ABSENT},
            ["malformed"],
            id="a misspelt quota is not an absent one",
        ),
        pytest.param(
            {"objectives.1": {"name": "a", "availablity": {"formula": "request_ratio", "target": "99%"}}},
            ["malformed"],
            id="a misspelt availability is not an absent one",
        ),
        pytest.param(
            {"objectives.1.availability.target": "99", "objectives.2": latency(), **CAPS},
            ["malformed"],
            id="a malformed target is not judged",
        ),
        pytest.param(
            {"objectives.0.latency.percentile": "p99", "expected_requests_per_month": "10"},
            ["malformed"],
            id="a percentile that stands in for a malformed one is not judged",
        ),
        pytest.param(
            credits_of(tier("99.9%", "5"), tier("99%", "8%")),
            ["malformed"],
            id="a tier is not judged against one that is malformed",
        ),
        pytest.param(
            {"clock": {}, "exclusions": {"cold_start": {}}},
            ["no-clock-start", "uncapped-exclusion"],
            id="an open question hides no other mistake",
        ),
        pytest.param(
            {"clock": ABSENT, "objectives.1.availability.target": "100%"},
            ["malformed", "target-of-100"],
            id="a missing clause hides no other mistake",
        ),
    ],
)
def test_problems_and_findings_are_reported_together_and_nothing_is_invented(changes, rules):
    assert sorted(finding.rule for finding in lint_examination(examined(changes))) == rules


def _phrases():
    """Every constant phrase that validation can say: problems and remedies in the sources."""
    folders = [Path(package.__file__).parent for package in (sla.contracts, fairclock.clauses)]
    for file in sorted(file for folder in folders for file in folder.rglob("*.py")):
        if "lint" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", "")
            said = [word.value for word in node.keywords if word.arg in {"problem", "remedy"}]
            said += node.args if name in {"QuantityError", "refuse"} else []
            said += node.args[1:3] if name == "matching" else []
            for value in said:
                texts = [value, *([value.body, value.orelse] if isinstance(value, ast.IfExp) else [])]
                yield from (
                    each.value for each in texts if isinstance(each, ast.Constant) and name != "Unreadable"
                )


def test_everything_that_validation_says_is_said_in_chinese_too():
    """Clauses to write stay as they are; every other phrase has its own translation."""
    phrases = set(_phrases())
    assert len(phrases) > 80
    clauses = re.compile(r"(write|add|did you mean) [^ ]+: .*|write [^ ]+")
    assert [each for each in phrases if each not in PHRASES and not clauses.fullmatch(each)] == []
    assert [each for each in phrases if chinese(each) == each] == []
