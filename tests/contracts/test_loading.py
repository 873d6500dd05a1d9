"""A contract file becomes a value that says exactly what the file says; problems come all at once."""

import hashlib
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from fairclock.errors import ContractError, NotEvaluable
from fairclock.model import Clock, Outcome
from sla.contracts import (
    AvailabilityObjective,
    During,
    LatencyObjective,
    examine,
    lint_examination,
    load_contract,
    parse_contract,
)
from sla.contracts.defaults import applied_defaults
from sla.contracts.showing import clauses_of
from tests.contracts.factories import ABSENT, contract_text, good_contract, latency

ROOT = Path(__file__).parents[2]
COMPLETE = ROOT / "examples/contracts/acme-2026.yaml"
BASIC = ROOT / "examples/contracts/basic.yaml"
BAD = sorted(Path(__file__).parent.glob("bad/*.bad.yaml"))


@pytest.mark.parametrize("file", BAD, ids=lambda file: file.name.removesuffix(".bad.yaml"))
def test_a_bad_contract_is_answered_with_every_problem(file):
    """The sentences stand in NAME.txt beside NAME.bad.yaml, in both languages."""
    findings = lint_examination(examine(file.read_bytes(), where=file.name))
    said = [finding.sentence(language) for language in ("en", "zh") for finding in findings]
    expected = file.with_name(file.name.replace(".bad.yaml", ".txt"))
    assert said == expected.read_text().splitlines()


def test_five_mistakes_are_five_problems():
    with pytest.raises(ContractError) as refusal:
        load_contract(Path(__file__).parent / "bad/five-mistakes.bad.yaml")
    assert len(refusal.value.problems) == 5
    assert "5 problems" in str(refusal.value)


def test_lint_errors_are_reported_with_the_problems_that_keep_a_file_from_being_a_contract():
    """A typo must not hide that a target is 100 %."""
    text = contract_text({"titel": "Agreement", "objectives.1.availability.target": "100%"})
    with pytest.raises(ContractError) as refusal:
        parse_contract(text)
    assert [problem.split(" (line")[0] for problem in refusal.value.problems] == [
        "objectives[1].availability.target",
        "titel",
    ]


@pytest.mark.parametrize("file", [COMPLETE, BASIC], ids=lambda file: file.name)
def test_the_shipped_examples_have_no_errors(file):
    findings = lint_examination(examine(file.read_bytes(), where=file.name))
    assert [finding.sentence() for finding in findings if finding.severity == "error"] == []
    assert load_contract(file).source_path == str(file)


def test_the_complete_example_says_what_it_says():
    contract = load_contract(COMPLETE)
    peak, regular, inference, queue, outside, short, ttft, *_, cost = contract.objectives
    assert isinstance(peak, LatencyObjective)
    assert (peak.kind, peak.latency.clock) == ("latency", Clock.END_TO_END)
    assert (peak.latency.percentile, peak.latency.at_most_us) == (Fraction(99), 2_000_000)
    assert (peak.during, regular.during) == (During("peak", negated=False), During("peak", negated=True))
    assert regular.latency.at_most_us == 1_500_000
    assert (inference.latency.clock, inference.latency.at_most_us) == (Clock.INFERENCE, 300_000)
    assert (queue.latency.clock, outside.latency.clock) == (Clock.QUEUE, Clock.OUTSIDE)
    assert (short.where.prompt_tokens.lowest, short.where.prompt_tokens.highest) == (0, 511)
    assert ttft.where.stream is True
    assert cost.kind == "cost"
    available = [each for each in contract.objectives if isinstance(each, AvailabilityObjective)]
    assert [each.availability.formula for each in available] == [
        "request_ratio",
        "downtime",
        "mean_interval_error",
    ]
    assert available[0].availability.target == Fraction(999, 1000)
    assert contract.outcomes[0].outcome is Outcome.QUOTA_REJECTED
    assert contract.outcomes[0].status == 503
    assert contract.evaluate_per == ("model",)
    assert contract.retries.with_backoff is None
    assert contract.unmeasured.coverage_floor == Fraction(995, 1000)
    assert contract.insufficient.below == 100
    assert contract.customer.tenants == ("acme",)
    assert contract.title.in_language("zh") == "推理服务协议"
    assert str(contract.credits.minimum) == "1.00"
    assert str(contract.credits.claim.opens) == "5 workdays after month end"


def test_what_is_accepted_and_not_evaluated_is_named():
    assert load_contract(BASIC).not_evaluated() == []
    assert load_contract(COMPLETE).not_evaluated() == [
        "objectives[12]",
        "quality.levels[1].credit",
        "credits",
        "prices",
    ]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"retries": {"with_backoff": {"from": "1s", "to": "32s"}}}, "retries.with_backoff"),
        (
            {"quality": {"levels": [{"name": "full", "modes": ["fp16"], "credit": "5%"}]}},
            "quality.levels[0].credit",
        ),
        ({"prices": "list-2026"}, "prices"),
    ],
)
def test_each_clause_that_is_not_evaluated_is_named(changes, path):
    assert good_contract().not_evaluated() == []
    assert good_contract(changes).not_evaluated() == [path]


def test_the_version_is_the_hash_of_the_bytes():
    text = contract_text()
    assert parse_contract(text).version_sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert parse_contract(text + "# comment\n").version_sha256 != parse_contract(text).version_sha256


def test_defaults_are_named():
    contract = good_contract({"quota": ABSENT, "unmeasured.time": ABSENT})
    assert {each.path: each.value for each in applied_defaults(contract)} == {
        "period.month": "calendar",
        "period.partial": "prorated",
        "scope.models": "all",
        "scope.routes": "all",
        "scope.regions": "all",
        "evaluate_per": "none",
        "quota": "none: quota_rejected is not counted",
        "retries": "all",
        "outcomes": "none: outcomes are as logged",
        "calendar.makeup_workdays": "false",
        "unmeasured.time": "not asked: no objective is judged by intervals",
    }


def test_answers_that_no_objective_needs_are_not_asked_and_are_the_worse_ones_for_the_provider():
    unmeasured = good_contract({"unmeasured.time": ABSENT, "unmeasured.unknown_clock": ABSENT}).unmeasured
    assert (unmeasured.time, unmeasured.unknown_clock) == ("bad", "bad")


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        pytest.param({"clock": {}}, "clock.start", id="where the clock starts"),
        pytest.param(
            {"unmeasured.coverage_floor": ABSENT}, "unmeasured.coverage_floor", id="the coverage floor"
        ),
        pytest.param(
            {"unmeasured.below_floor": ABSENT}, "unmeasured.below_floor", id="what happens below it"
        ),
        pytest.param(
            {"unmeasured.unknown_clock": ABSENT, "objectives.2": latency("q", clock="queue")},
            "unmeasured.unknown_clock",
            id="what an unknown engine clock counts as",
        ),
        pytest.param(
            {"unmeasured.unknown_clock": ABSENT, "objectives.0.where": {"stream": "true"}},
            "unmeasured.unknown_clock",
            id="what a request counts as that may not have streamed",
        ),
        pytest.param(
            {
                "unmeasured.time": ABSENT,
                "objectives.2": {
                    "name": "m",
                    "availability": {
                        "formula": "mean_interval_error",
                        "interval": "5m",
                        "empty": "bad",
                        "target": "99%",
                    },
                },
            },
            "unmeasured.time",
            id="what unmeasured time counts as where intervals are judged",
        ),
        pytest.param(
            {
                "objectives.2": {
                    "name": "d",
                    "availability": {
                        "formula": "downtime",
                        "interval": "1m",
                        "bad_above": "5%",
                        "target": "99%",
                    },
                }
            },
            "objectives[2].availability.empty",
            id="what an empty interval counts as",
        ),
        pytest.param(
            {"objectives.0.latency.window": "5m"}, "objectives[0].latency.combine", id="how windows combine"
        ),
        pytest.param(
            {
                "credits": {
                    "tiers": [
                        {"objective": "availability", "below": "99.9%", "credit": "10%"},
                        {"objective": "availability", "below": "99%", "credit": "25%"},
                    ]
                }
            },
            "credits.tier",
            id="which of several tiers counts",
        ),
    ],
)
def test_a_question_that_is_needed_and_open_is_the_only_problem(changes, path):
    with pytest.raises(ContractError) as refusal:
        parse_contract(contract_text(changes))
    (problem,) = refusal.value.problems
    assert problem.startswith(path)
    assert "is a question that the contract leaves open; decide" in problem


@pytest.mark.parametrize(
    "key",
    [
        "apiVersion",
        "kind",
        "id",
        "title",
        "provider",
        "customer",
        "term",
        "clock",
        "objectives",
        "insufficient",
        "unmeasured",
    ],
)
def test_a_required_key_that_is_missing_is_named(key):
    with pytest.raises(ContractError) as refusal:
        parse_contract(contract_text({key: ABSENT}))
    assert any(problem.startswith(f"{key}: is missing; write {key}: ") for problem in refusal.value.problems)


@pytest.mark.parametrize("file", [COMPLETE, BASIC], ids=lambda file: file.name)
def test_what_is_understood_reads_back_as_the_same_contract(file):
    contract = load_contract(file)
    again = parse_contract(yaml.safe_dump(clauses_of(contract), allow_unicode=True))
    assert again.model_dump() == contract.model_dump()
    assert clauses_of(again) == clauses_of(contract)


@pytest.mark.parametrize(
    ("limits", "lowest", "highest"),
    [
        ({"below": "512"}, 0, 511),
        ({"at_most": "512"}, 0, 512),
        ({"above": "512"}, 513, None),
        ({"at_least": "512"}, 512, None),
        ({"at_least": "512", "at_most": "2048"}, 512, 2048),
        ({"at_least": "512", "at_most": "512"}, 512, 512),
        ({"above": "511", "below": "513"}, 512, 512),
        ("short", 0, 511),
        ("medium", 512, 2048),
        ("long", 2049, None),
        ("long_context", 16001, None),
    ],
)
def test_a_range_of_tokens_has_the_edges_that_it_names(limits, lowest, highest):
    where = good_contract({"objectives.0.where": {"prompt_tokens": limits}}).objectives[0].where
    assert (where.prompt_tokens.lowest, where.prompt_tokens.highest) == (lowest, highest)


def test_the_three_length_classes_leave_no_number_out_and_hold_none_twice():
    names = ("short", "medium", "long")
    ranges = [
        good_contract({"objectives.0.where": {"prompt_tokens": name}}).objectives[0].where.prompt_tokens
        for name in names
    ]
    assert [each.lowest for each in ranges] == [0, ranges[0].highest + 1, ranges[1].highest + 1]
    assert ranges[-1].highest is None


def test_a_term_may_be_one_day():
    contract = good_contract({"term.to": "2026-01-01"})
    assert contract.month("2026-01").length_us == 24 * 3_600_000_000


def test_the_last_month_on_record_is_judged_although_the_next_year_is_not_announced():
    contract = good_contract(
        {"calendar.holidays": "CN", "calendar.peak.0.days": "workdays", "term.to": "2099-12-31"}
    )
    during = contract.objectives[0].during
    year = max(year for year in range(2026, 2099) if _is_announced(contract, year))
    assert contract.intervals(during, contract.month(f"{year}-12"))
    with pytest.raises(NotEvaluable, match=f"CN {year + 1}"):
        contract.intervals(during, contract.month(f"{year + 1}-01"))


def _is_announced(contract, year):
    try:
        contract.calendar.holiday_calendar.year(year)
    except NotEvaluable:
        return False
    return True


def test_a_contract_never_changes():
    contract = good_contract()
    with pytest.raises(ValueError, match="frozen"):
        contract.id = "other"


def test_a_title_may_be_one_text_for_both_languages():
    title = good_contract({"title": "Agreement"}).title
    assert title.in_language("en") == title.in_language("zh") == "Agreement"
    assert good_contract({"title": {"zh": "协议"}}).title.in_language("en") == "协议"


def test_hostile_names_are_names():
    names = ["<img src=x>", "\"'; DROP TABLE requests; --", "阿克米金融"]
    assert good_contract({"customer.tenants": names}).customer.tenants == tuple(names)


def test_a_period_of_the_contract_is_judged_in_its_zone():
    contract = good_contract({"objectives.2": latency("off-peak", clock="end_to_end", during="not peak")})
    month = contract.month("2026-10")
    on = contract.intervals(contract.objectives[0].during, month)
    off = contract.intervals(contract.objectives[2].during, month)
    assert len(on) == 22
    assert on[0].start.isoformat() == "2026-10-01T01:30:00+00:00"
    assert sum(each.length_us for each in [*on, *off]) == month.length_us
    assert contract.intervals(None, month) == [month]
