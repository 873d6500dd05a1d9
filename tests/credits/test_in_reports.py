"""What a report says of money: charges from the ledger, credits from its own verdicts, promises about cost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from billing.bookkeeping.books import books_at
from billing.bookkeeping.credits import deduct, grant, keep_computed, step
from billing.bookkeeping.price_books import BookPrices, keep_versions
from billing.bookkeeping.rating import rate
from billing.bookkeeping.statements import Asked, statement_of
from billing.credits import CreditState
from billing.ledger import write_exact
from billing.prices.loading import load_price_book
from billing.usage import Treatment
from sla.evaluation import computed_credits, evaluate
from sla.evaluation.credits_section import credit_id
from tests.credits.factories import a_clause
from tests.evaluation.factories import a_contract, a_request, availability, latency
from tests.ledger.factories import a_usage

BOOK = BookPrices(load_price_book(Path(__file__).parents[1] / "ledger" / "prices.yaml"))
SHANGHAI = timedelta(hours=8)


def at(day: int, hour: int = 12) -> datetime:
    return datetime(2026, 10, day, hour, tzinfo=UTC) - SHANGHAI


def terms_of_credit(**changes: Any) -> dict[str, Any]:
    return a_clause(
        **(
            {
                "claim": {
                    "required": "true",
                    "opens": "5 workdays after month end",
                    "closes": "2 months after month end",
                    "decide_within": "30d",
                }
            }
            | changes
        )
    ).model_dump(mode="json", by_alias=True, exclude_none=True)


def contract(**changes: Any):
    said = {
        "objectives": [availability(), latency() | {"name": "p99-peak"}],
        "calendar": {"holidays": "CN", "makeup_workdays": True},
        "credits": terms_of_credit(),
    }
    return a_contract(**(said | changes))


@pytest.fixture(scope="module")
def rated(given_store):
    """October of acme: 1,000 calls at 0.0003 and their tokens in one hour; a failed one of them costs nothing."""
    store = given_store.store
    keep_versions(store, BOOK.book, until=at(31))
    hour = {"start": at(5), "end": at(5) + timedelta(hours=1), "hour": at(5), "machine": ""}
    usages = [
        a_usage(**hour, requests=1_000, uncached_prompt_tokens=0, cached_prompt_tokens=0, completion_tokens=50_000_000, gpu_picoseconds=0),
        a_usage(**hour, inference_mode="int8", requests=100, uncached_prompt_tokens=0, cached_prompt_tokens=0, completion_tokens=0, gpu_picoseconds=0),
        a_usage(**hour, treatment=Treatment.INCOMPLETE, requests=5),
    ]  # fmt: skip
    rate(store, lambda _: usages, BOOK.months.interval("2026-10"), as_of=store.watermark(), prices=BOOK, months=BOOK.months)  # fmt: skip
    return given_store


def month(rated, *, failed=4, slow=0, both=0, total=1000, **given):
    """Give a month of requests: some failed with an error, some were slow, some were given up after a time."""
    requests = [a_request(received_at=at(5)) for _ in range(total - failed - slow - both)]
    requests += [a_request(received_at=at(6), outcome="server_error", status=500) for _ in range(failed)]
    requests += [a_request(received_at=at(7), end_to_end_us=9_000_000) for _ in range(slow)]
    requests += [
        a_request(received_at=at(8), outcome="timeout", status=504, end_to_end_us=60_000_000)
        for _ in range(both)
    ]
    october = BOOK.months.interval("2026-10")
    return rated.given(requests, gateway=[october], engine=[october])


def report(store, contract_, **others):
    return evaluate(
        store, contract_, month="2026-10", software_version="0", as_of=store.store.watermark(), **others
    )


def test_charges_are_those_of_the_ledger_and_lines_sum_to_them(rated):
    found = report(month(rated), contract())
    assert (found["cost"]["currency"], found["cost"]["net"]) == ("CNY", "400.33")
    assert sum(Fraction(line["net"]) for line in found["cost"]["lines"]) == Fraction("400.33")
    assert found["amounts"] == {
        "currency": "CNY", "net": "400.33", "tax": "24.02", "gross": "424.35",
        "credits_granted": "0.00", "credits_claimed": "0.00", "credits_claimable": "40.03",
    }  # fmt: skip
    assert "credits" not in found["not_evaluated"]


def test_a_credit_names_its_objective_basis_tier_and_dates(rated):
    (credit,) = report(month(rated), contract())["credits"]
    assert credit["objective"] == "availability"
    assert credit["tier"] == "below 99.9%: 10%"
    assert (credit["amount"], credit["amount_with_tax"]) == ("40.03", "42.43")
    assert credit["basis"] == {
        "fees_of": ["model"], "net_of": ["tax", "vouchers", "earlier_credits"], "model": None, "amount": "400.33",
    }  # fmt: skip
    assert credit["claim"] == {
        "required": True, "opens_at": "2026-11-05T16:00:00Z", "closes_at": "2026-12-31T16:00:00Z",
        "last_day": "2026-12-31", "decide_by": None, "overdue": False,
    }  # fmt: skip
    assert credit["revision"] is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({"failed": 0}, {}, id="kept promises give nothing back"),
        pytest.param({"failed": 1}, {}, id="equality meets"),
        pytest.param({"failed": 2}, {"availability": "40.03"}, id="one more than allowed"),
        pytest.param({"failed": 11}, {"availability": "100.08"}, id="the deeper tier"),
        pytest.param({"failed": 4, "slow": 11}, {"availability": "40.03", "p99-peak": "20.02"}, id="two causes, two credits"),
        pytest.param({"failed": 0, "both": 11}, {"availability": "100.08"}, id="the same requests broke both: one credit"),
    ],
)  # fmt: skip
def test_what_a_month_gives_back(rated, given, expected):
    found = report(month(rated, **given), contract())["credits"]
    assert {each["objective"]: each["amount"] for each in found} == expected


def test_single_timeouts_give_back_what_the_call_costs(rated):
    clause = terms_of_credit(
        tiers=[], tier=None, same_cause=None, per_failure={"outcomes": ["timeout"], "times_charge": "2"}
    )
    found = report(month(rated, failed=0, both=11), contract(credits=clause))["credits"]
    # 1,100 answered calls cost 400.33 together
    assert [(each["objective"], each["amount"]) for each in found] == [("per_failure", "8.01")]


def test_what_was_claimed_stays_what_it_was_when_the_month_is_computed_anew(rated):
    terms = contract(id="acme-claims")
    store = rated.store

    def keep():
        computed = computed_credits(rated, terms, month="2026-10", as_of=store.watermark())
        return keep_computed(store, computed, contract=terms.id, month="2026-10")

    month(rated)
    (written,) = keep()
    assert keep() == []
    shown = report(rated, terms)["credits"][0]
    assert (shown["id"], shown["revision"]) == (written.id, 1)
    step(
        store,
        written.id,
        CreditState.CLAIMED,
        author="Zhang",
        now=written.opens_at,
        decide_within=timedelta(days=30),
    )
    granted = step(store, written.id, CreditState.GRANTED, author="Ops", now=written.opens_at)
    deduct(store, granted, BOOK.months)
    month(rated, failed=0)
    keep()
    found = report(rated, terms)
    assert [(each["state"], each["amount"], each["amount_now"]) for each in found["credits"]] == [
        ("granted", "40.03", "0")
    ]
    assert (found["amounts"]["credits_granted"], found["amounts"]["net"]) == ("40.03", "400.33")


def test_a_verdict_that_comes_to_more_after_a_grant_leaves_the_difference_to_be_claimed(rated):
    terms = contract(id="acme-more")
    store = rated.store

    def keep():
        computed = computed_credits(rated, terms, month="2026-10", as_of=store.watermark())
        return keep_computed(store, computed, contract=terms.id, month="2026-10")

    month(rated, failed=4)
    (first,) = keep()
    step(store, first.id, CreditState.CLAIMED, author="Zhang", now=first.opens_at)
    step(store, first.id, CreditState.GRANTED, author="Ops", now=first.opens_at)
    month(rated, failed=11)
    # a report says it before anything is written down
    before = {each["id"]: each for each in report(rated, terms)["credits"]}
    more = next(each for each in keep() if each.id != first.id)
    assert (write_exact(more.amount), more.facts["amount_with_tax"]) == ("60.05", "63.65")
    assert keep() == []
    found = {each["id"]: each for each in report(rated, terms)["credits"]}
    assert set(before) == set(found) == {first.id, more.id}
    assert (found[first.id]["state"], found[first.id]["amount"], found[first.id]["amount_now"]) == (
        "granted", "40.03", "100.08",
    )  # fmt: skip
    assert (found[more.id]["amount"], found[more.id]["further_to"]) == ("60.05", first.id)
    assert (before[more.id]["revision"], found[more.id]["revision"]) == (None, 1)
    if store.watermark() < first.closes_at:
        assert more.closes_at == first.closes_at
    else:
        assert more.opens_at > first.closes_at


def test_a_credit_of_what_was_paid_gives_back_that_share_of_it_on_the_statement(rated):
    """424.35 were paid, tax included: a tenth is 42.44."""
    terms = contract(id="acme-gross", credits=terms_of_credit(base={"fees_of": ["service"]}))
    store = rated.store
    month(rated)
    computed = computed_credits(rated, terms, month="2026-10", as_of=store.watermark())
    (written,) = keep_computed(store, computed, contract=terms.id, month="2026-10")
    assert (written.facts["basis"]["amount"], written.facts["amount_with_tax"]) == ("424.35", "42.44")
    step(store, written.id, CreditState.CLAIMED, author="Zhang", now=written.opens_at)
    grant(store, written.id, BOOK.months, author="Ops", now=written.opens_at)
    asked = Asked(tenant="acme", month="2026-11", opening_balance=Fraction(0))
    made = statement_of(store, books_at(store, store.watermark()), BOOK.book, asked)
    (line,) = [each for each in made["lines"] if each["subject"] == written.id]
    assert (line["net"], line["tax"], line["gross"]) == ("-40.04", "-2.40", "-42.44")


COST = {"cost": {"at_most": "0.4", "per": "call", "currency": "CNY"}, "name": "cost-short"}


@pytest.mark.parametrize(
    ("changes", "verdict", "value"),
    [
        # 400.33 for 1,100 answered calls; tokens are of one length class
        pytest.param({}, "met", 0.3639363636, id="below what was promised"),
        pytest.param({"cost": {"at_most": "0.36", "per": "call", "currency": "CNY"}}, "violated", 0.3639363636, id="above it"),
        pytest.param({"cost": {"at_most": "8.0066", "per": "million_tokens", "currency": "CNY"}}, "met", 8.0066, id="equality meets"),
        pytest.param({"where": {"prompt_tokens": {"below": "512"}}}, "met", 0.3639363636, id="a length class that the ledger keeps"),
        pytest.param({"where": {"prompt_tokens": {"below": "400"}}}, "not_measured", None, id="a range that it does not"),
        pytest.param({"where": {"prompt_tokens": "medium"}}, "insufficient_data", None, id="512 to 2,048, of which there were none"),
        pytest.param({"where": {"prompt_tokens": "long"}}, "insufficient_data", None, id="above 2,048"),
        pytest.param({"where": {"prompt_tokens": "long_context"}}, "insufficient_data", None, id="above 16,000"),
        pytest.param({"where": {"prompt_tokens": {"at_most": "2048"}}}, "met", 0.3639363636, id="two classes together"),
        pytest.param({"where": {"prompt_tokens": {"below": "2048"}}}, "not_measured", None, id="an edge that cuts a class"),
        pytest.param({"where": {"inference_mode": ["int8"]}}, "met", 0.0003, id="one mode"),
        pytest.param({"where": {"stream": True}}, "not_measured", None, id="a question finer than the ledger"),
        pytest.param({"cost": {"at_most": "1", "per": "call", "currency": "USD"}}, "not_measured", None, id="another currency"),
        pytest.param({"where": {"models": ["other"]}}, "insufficient_data", None, id="no calls"),
    ],
)  # fmt: skip
def test_promises_about_cost(rated, changes, verdict, value):
    found = report(
        month(rated, failed=0), contract(objectives=[availability(), COST | changes], credits=None)
    )
    cost = found["objectives"][-1]
    assert cost["verdict"] == verdict
    assert cost["value"] == (None if value is None else pytest.approx(value))
    assert ("objectives[1]" in found["not_evaluated"]) == (verdict == "not_measured")


def test_a_month_that_nobody_rated_has_no_money_in_it(rated):
    found = report(month(rated), contract(customer={"name": "Other", "tenants": ["other"]}))
    assert (found["cost"], found["amounts"], found["credits"]) == (None, None, [])
    assert "credits" in found["not_evaluated"]


def test_what_an_instant_did_not_know_is_not_in_its_report(rated):
    store = month(rated)
    before = datetime(2026, 11, 1, tzinfo=UTC)
    found = evaluate(store, contract(), month="2026-10", software_version="0", as_of=before)
    assert found["cost"] is None


def test_no_two_of_very_many_credits_share_an_id_and_with_it_their_life():
    facts = SimpleNamespace(month=SimpleNamespace(label="2026-10"), subject=SimpleNamespace(in_force=None))
    due = SimpleNamespace(objective="availability", part="")
    ids = {credit_id(SimpleNamespace(id=f"contract-{number}"), facts, due) for number in range(300_000)}
    assert len(ids) == 300_000
