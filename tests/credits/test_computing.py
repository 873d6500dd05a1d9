"""From verdicts to credits: tiers, one credit for one cause, failures, minimum, cap, rounding."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.money import Money
from sla.contracts.remedies import Quality
from sla.credits import Earlier, Failed, Fee, compute
from sla.verdicts import Verdict
from tests.credits.factories import USD, a_clause, an_outcome, some_fees, tuples

GRANTED = Earlier(tenant="acme", tax_rate=Fraction("0.06"), net=Fraction(240), tax=Fraction("14.40"))
MET, VIOLATED = Verdict.MET, Verdict.VIOLATED
PEAK = an_outcome("p99-peak", None)


def amounts(clause=None, outcomes=(), fees=None, **others):
    found = compute(clause or a_clause(), outcomes, fees or some_fees(), money=USD, **others)
    return {each.objective: each.amount for each in found.dues}


@pytest.mark.parametrize(
    ("outcome", "amount"),
    [
        pytest.param(an_outcome(ratio="0.999", verdict=MET), None, id="equality meets"),
        pytest.param(
            an_outcome(ratio="0.99899999999"),
            124,
            id="a ratio just below is below, whatever it is printed as",
        ),
        pytest.param(an_outcome(ratio="0.99"), 124, id="at the edge of the deeper tier, the other"),
        pytest.param(an_outcome(ratio="0.98"), 310, id="the deepest tier reached, not their sum"),
        pytest.param(
            an_outcome(ratio="1"), 124, id="violated for want of measurement counts as below its target"
        ),
        pytest.param(
            an_outcome(ratio="0.5", verdict=Verdict.INSUFFICIENT_DATA), None, id="no verdict, no credit"
        ),
        pytest.param(
            an_outcome(ratio="0.5", verdict=Verdict.NOT_MEASURED), None, id="not measured, no credit"
        ),
    ],
)
def test_tiers(outcome, amount):
    assert amounts(outcomes=[outcome]) == ({} if amount is None else {"availability": amount})


def test_tiers_add_up_where_the_contract_says_so():
    assert amounts(a_clause(tier="sum"), [an_outcome(ratio="0.98")]) == {"availability": 434}


@pytest.mark.parametrize(
    ("same_cause", "cause", "expected"),
    [
        pytest.param("highest_only", "x", {"availability": 124}, id="one outage, one credit"),
        pytest.param("highest_only", "", {"availability": 124, "p99-peak": 62}, id="two causes, two credits"),
        pytest.param("sum", "x", {"availability": 124, "p99-peak": 62}, id="the contract adds them up"),
        pytest.param(None, "x", {"availability": 124, "p99-peak": 62}, id="the contract does not say"),
    ],
)
def test_one_cause(same_cause, cause, expected):
    outcomes = [an_outcome(cause=cause), an_outcome("p99-peak", None, cause=cause)]
    assert amounts(a_clause(same_cause=same_cause), outcomes) == expected


def test_what_the_cause_left_out_is_named():
    found = compute(
        a_clause(), [an_outcome(cause="x"), an_outcome("p99-peak", None, cause="x")], some_fees(), money=USD
    )
    assert [(each.objective, each.left_out) for each in found.dues] == [("availability", ("p99-peak",))]


@pytest.mark.parametrize(
    ("base", "model", "models", "fees", "amount"),
    [
        pytest.param({"fees_of": ["model"], "net_of": ["tax"]}, "qwen3-32b", (), {}, 10, id="the fees of the model that is judged"),
        pytest.param({"fees_of": ["model"], "net_of": ["tax"]}, None, ("deepseek-v4",), {}, 50, id="of the models in scope"),
        pytest.param({"fees_of": ["service"], "net_of": ["tax"]}, "qwen3-32b", (), {}, 62, id="of the whole service, its minimum too"),
        pytest.param({"fees_of": ["region"], "net_of": ["tax"]}, None, (), {}, 62, id="a region narrows nothing: the ledger keeps none"),
        pytest.param(
            {"fees_of": ["service"], "net_of": ["tax", "earlier_credits"]}, None, (), {"earlier": (GRANTED,)}, 50,
            id="less what was granted before",
        ),
        pytest.param(None, "qwen3-32b", (), {}, 62, id="of everything, where the contract does not say"),
    ],
)  # fmt: skip
def test_the_basis(base, model, models, fees, amount):
    outcome = an_outcome("p99-peak", None, model=model)
    assert amounts(a_clause(base=base), [outcome], some_fees(**fees), models=models) == {"p99-peak": amount}


def test_single_failures_pay_so_many_times_what_the_call_costs():
    clause = a_clause(per_failure={"outcomes": ["timeout"], "times_charge": "1.5"})
    failures = [
        Failed(tenant="acme", outcome="timeout", requests=7, cost=Fraction("0.6")),
        Failed(tenant="acme", outcome="incomplete", requests=3, cost=Fraction(9)),
    ]
    assert amounts(clause, failures=failures) == {"per_failure": Fraction("0.9")}


def test_lesser_quality_gives_back_a_share_of_its_own_fees():
    quality = Quality.model_validate(
        tuples(
            {
                "levels": [
                    {"name": "full", "modes": ["fp16"]},
                    {"name": "reduced", "modes": ["int8"], "credit": "5%"},
                ]
            }
        )
    )
    assert amounts(quality=quality) == {"quality:reduced": 5}


@pytest.mark.parametrize(
    ("changes", "amount"),
    [
        pytest.param({"minimum": "200"}, 200, id="raised to the minimum"),
        pytest.param({"minimum": "100"}, 124, id="above the minimum"),
        pytest.param({"minimum": "5000", "cap": None}, 1240, id="never above the fees"),
        pytest.param({"minimum": "5000"}, 620, id="never above the cap"),
        pytest.param({"cap": "5%"}, 62, id="cut to the cap"),
    ],
)
def test_minimum_and_cap(changes, amount):
    assert amounts(a_clause(**changes), [an_outcome()]) == {"availability": amount}


def test_a_minimum_makes_no_credit_of_nothing():
    assert amounts(a_clause(minimum="1")) == {}


FEES = st.lists(
    st.builds(
        Fee,
        tenant=st.sampled_from(["a", "b", "c"]),
        model=st.sampled_from(["x", "y", ""]),
        inference_mode=st.just("fp16"),
        amount=st.fractions(min_value=-1, max_value=1000, max_denominator=10**6),
    ),
    max_size=8,
)
OUTCOMES = st.lists(
    st.builds(
        an_outcome,
        objective=st.sampled_from(["availability", "p99-peak"]),
        ratio=st.sampled_from(["0.9985", "0.98", "0.5"]),
        cause=st.sampled_from(["", "x"]),
        model=st.sampled_from([None, "x"]),
    ),
    max_size=5,
)


@given(FEES, OUTCOMES, st.sampled_from([0, 2, 3]), st.sampled_from(["sum", "highest_only"]))
def test_credits_stay_below_the_cap_and_their_shares_sum_to_them(fees, outcomes, digits, same_cause):
    clause = a_clause(same_cause=same_cause, base={"fees_of": ["service"], "net_of": ["tax"]})
    money = Money(code="XXX", digits=digits, rounding="down")
    found = compute(clause, outcomes, some_fees(fees=tuple(fees)), money=money)
    total = sum(each.amount for each in found.dues)
    assert 0 <= total <= max(0, sum(each.amount for each in fees)) / 2
    for due in found.dues:
        assert sum(due.shares.values()) == due.amount
        assert due.amount * 10**digits % 1 == 0
    assert found == compute(clause, outcomes, some_fees(fees=tuple(reversed(fees))), money=money)
