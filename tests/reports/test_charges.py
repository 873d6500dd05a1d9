"""Charges and credits as a reader finds them: sums with tax, states, the dates on which something can be claimed."""

from __future__ import annotations

from typing import Any

from sla.reports.html import report_html
from tests.reports import factories
from tests.reports.reader import Page

CREDIT: dict[str, Any] = {
    "id": "cr-1a2b3c4d",
    "objective": "availability",
    "part": "deepseek-v4",
    "basis": {"fees_of": ["model"], "net_of": ["tax"], "model": "deepseek-v4", "amount": "12345.6"},
    "tier": "below 99.9%: 10%",
    "amount": "1234.56",
    "state": "claimable",
    "claim": {
        "opens_at": "2026-11-05T16:00:00Z",
        "closes_at": "2026-12-31T16:00:00Z",
        "last_day": "2026-12-31",
    },
}
MONEY: dict[str, Any] = {
    "cost": {
        "currency": "CNY",
        "net": "12345.60",
        "lines": [
            {"model": "=cmd()", "length_class": "short", "inference_mode": "", "treatment": "completed",
             "requests": 1200, "prompt_tokens": 1000, "completion_tokens": 500, "net": "12345.60"},
        ],
    },
    "amounts": {
        "currency": "CNY", "net": "12345.60", "tax": "740.74", "gross": "13086.34", "credits_granted": "0.00",
        "credits_claimed": "0.00", "credits_claimable": "1234.56",
    },
}  # fmt: skip


def text(code: str = "en", **changes: Any) -> str:
    return Page(report_html(factories.report(**changes), code)).text


def test_the_first_page_has_the_sums_with_tax_and_the_last_day_to_claim() -> None:
    found = text(**MONEY, credits=[CREDIT, CREDIT | {"state": "expired"}])
    assert "13,086.34 CNY with tax (12,345.60 net, 740.74 tax)" in found
    assert "Credits granted 0.00, claimable 1,234.56" in found
    assert "1 credit expired unclaimed." in found
    assert "The first claim closes on 31 December 2026." in found


def test_each_credit_has_its_tier_basis_state_and_dates() -> None:
    found = text("zh", **MONEY, credits=[CREDIT])
    for said in (
        "cr-1a2b3c4d",
        "低于 99.9%：10%",
        "12,345.60",
        "1,234.56",
        "可申领",
        "2026年11月6日至2026年12月31日",
    ):
        assert said in found


def test_a_credit_says_what_it_comes_to_with_tax() -> None:
    credit = CREDIT | {"amount": "100", "amount_with_tax": "106"}
    assert "100 (106 with tax)" in text(**MONEY, credits=[credit])
    assert "100（含税106）" in text("zh", **MONEY, credits=[credit])


def test_a_credit_that_was_computed_anew_shows_both_figures_and_a_further_one_names_the_first() -> None:
    granted = CREDIT | {
        "state": "granted", "amount": "80", "amount_now": "60", "claimed_as": {"revision": 1, "amount": "100"},
    }  # fmt: skip
    further = CREDIT | {"id": "cr-2", "further_to": "cr-1a2b3c4d"}
    found = text(**MONEY, credits=[granted, further])
    assert "80; claimed were 100 before tax; comes to 60 before tax by now" in found
    assert "below 99.9%: 10%; further to cr-1a2b3c4d" in found
    found = text("zh", **MONEY, credits=[granted, further])
    assert "80；申领时为 100（不含税）；按最新结论为 60（不含税）" in found
    assert "cr-1a2b3c4d 之差额" in found


def test_a_basis_that_is_no_decimal_is_rounded_as_the_currency_is() -> None:
    basis = CREDIT["basis"] | {"amount": "380773236543589/4894520000000"}
    found = text(**MONEY, credits=[CREDIT | {"basis": basis, "tier": "violated: 5% + below 99%: 25%"}])
    assert "77.80" in found
    assert "/4894520000000" not in found
    assert "violated: 5% + below 99%: 25%" in found


def test_a_month_that_gives_nothing_back_is_evaluated_and_one_that_nobody_rated_is_not() -> None:
    listed = "service credits and claim deadlines"
    assert listed not in text(**MONEY, credits=[])
    unrated = text(cost=None, amounts=None, credits=[])
    assert listed in unrated
    assert (
        "Charges, credits granted, claimable and expired, claim deadline, amount with tax: not evaluated."
        in unrated
    )
