"""Own the report's ``cost`` and ``amounts``: what a contract's month is charged, from the ledger; amounts are texts."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from billing.credits import CreditState
from billing.ledger.views import table
from fairclock.documents.numbers import rounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from billing.ledger.views import Dimension, Row
    from billing.money import Money
    from sla.evaluation.charged import Charged

_BY: tuple[Dimension, ...] = ("model", "length_class", "inference_mode", "treatment")
_PLACES = 6
_ZERO = Fraction(0)


def cost_section(charged: Charged | None) -> dict[str, Any] | None:
    """Return what was charged before tax, by model, length class, mode and treatment; the lines sum to `net`.

    `tokens` says how many one unit of the currency buys, and what 1,000 cost. None where nothing was rated.
    """
    if charged is None:
        return None
    rows = table(charged.drafts, _BY)
    nets = charged.money.apportioned([row.amount for row in rows])
    (whole,) = table(charged.drafts, ()) or (None,)
    return {
        "currency": charged.money.code,
        "net": str(charged.money.rounded(sum((row.amount for row in rows), start=_ZERO))),
        "lines": [
            {**dict(zip(_BY, row.keys, strict=True)), **_figures(row), "net": str(net)}
            for row, net in zip(rows, nets, strict=True)
        ],
        "per_1000_requests": None if whole is None else _text(whole.per_1000_requests),
        "tokens": None
        if whole is None
        else {
            "count": whole.tokens,
            "per_1000": _text(whole.per_1000_tokens),
            "per_unit": _text(whole.tokens_per_unit, places=0),
        },
        "of_it": None
        if whole is None
        else {name: _text(getattr(whole, name)) for name in ("probes", "invalid", "retried", "adjusted")},
    }


def amounts_section(charged: Charged | None, credits_: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the month's sums: net, tax and gross of what is charged, and what credits come to by their state.

    No credit that was not granted is taken off anything.
    """
    if charged is None:
        return None
    by_rate: dict[Fraction, Fraction] = {}
    for draft in charged.drafts:
        rate = charged.tax_rate(draft)
        by_rate[rate] = by_rate.get(rate, _ZERO) + draft.amount
    money = charged.money
    rates = sorted(by_rate)
    nets = [Fraction(each) for each in money.apportioned([by_rate[rate] for rate in rates])]
    net = sum(nets, start=_ZERO)
    tax = sum(
        (Fraction(money.rounded(part * rate)) for part, rate in zip(nets, rates, strict=True)), start=_ZERO
    )
    return {
        "currency": money.code,
        "net": str(money.rounded(net)),
        "tax": str(money.rounded(tax)),
        "gross": str(money.rounded(net + tax)),
        "credits_granted": _credited(credits_, money, {CreditState.GRANTED}),
        "credits_claimed": _credited(credits_, money, {CreditState.CLAIMED}),
        "credits_claimable": _credited(credits_, money, {CreditState.COMPUTED, CreditState.CLAIMABLE}),
    }


def _credited(credits_: Iterable[Mapping[str, Any]], money: Money, states: set[CreditState]) -> str:
    found = (Fraction(each["amount"]) for each in credits_ if each["state"] in states)
    return str(money.rounded(sum(found, start=_ZERO)))


def _figures(row: Row) -> dict[str, Any]:
    return {
        "requests": row.requests,
        "prompt_tokens": row.prompt_tokens,
        "completion_tokens": row.completion_tokens,
        "per_1000_requests": _text(row.per_1000_requests),
        "per_1000_tokens": _text(row.per_1000_tokens),
    }


def _text(value: Fraction | None, *, places: int = _PLACES) -> str | None:
    return None if value is None else f"{rounded(value, places):f}"
