"""Own the ledger as a table: a line a charge, for spreadsheets and other programs, and as FOCUS columns.

FOCUS is the column set that FinOps tools read. An entry that was taken back in the month in which it was booked is left out
with what took it back, so a correction there is one only of a month that was final.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from billing.ledger.entries import SUMS, EntryKind
from billing.ledger.exact import write_exact
from fairclock.model import utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from fractions import Fraction

    from billing.ledger.entries import Charged, Draft, Item
    from billing.ledger.periods import Months

Line = dict[str, Any]
PLACES = 18
COLUMNS = (
    "tenant", "sequence", "kind", "from", "to", "period", "about", "price_version", "currency", "subject", "reverses",
    "model", "length_class", "inference_mode", "machine", "treatment", "estimated", *SUMS,
    "charge", "quantity", "unit", "unit_price", "amount", "amount_exact",
)  # fmt: skip
FOCUS_COLUMNS = (
    "BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency", "BillingPeriodStart", "BillingPeriodEnd",
    "ChargeCategory", "ChargeClass", "ChargeDescription", "ChargeFrequency", "ChargePeriodStart", "ChargePeriodEnd",
    "ConsumedQuantity", "ConsumedUnit", "ContractedCost", "ContractedUnitPrice", "EffectiveCost", "InvoiceIssuerName",
    "ListCost", "ListUnitPrice", "PricingCategory", "PricingQuantity", "PricingUnit", "ProviderName", "PublisherName",
    "ServiceCategory", "ServiceName", "SkuId", "SkuPriceId", "SubAccountId", "Tags",
)  # fmt: skip
_CATEGORIES = {EntryKind.ADJUSTMENT: "Adjustment", EntryKind.CREDIT: "Credit"}
_NOT_COUNTED = dict.fromkeys(("ConsumedQuantity", "ConsumedUnit", "PricingQuantity", "PricingUnit"))


def rounded(value: Fraction) -> Decimal:
    """Return an exact value to 18 decimals, half to even, without trailing zeros."""
    scaled = Decimal(round(value * 10**PLACES))
    sign, digits, _ = scaled.as_tuple()
    text = "".join(map(str, digits)).rjust(PLACES + 1, "0")
    shown = f"{'-' if sign else ''}{text[:-PLACES]}.{text[-PLACES:]}".rstrip("0").rstrip(".")
    return Decimal("0" if shown == "-0" else shown)


def lines(entries: Iterable[tuple[int, Draft]]) -> Iterator[Line]:
    """Yield a line a charge, in the order of the entries; counts stand on the first line of what they belong to."""
    for sequence, draft in entries:
        head = {
            "tenant": draft.tenant,
            "sequence": sequence,
            "kind": str(draft.kind),
            "from": utc_text(draft.start),
            "to": utc_text(draft.end),
            "period": draft.period,
            "about": draft.about,
            "price_version": draft.price_version,
            "currency": draft.currency,
            "subject": draft.subject,
            "reverses": draft.reverses or None,
        }
        if not draft.items:
            yield {**head, **_item(None, first=True), **_charge(None)}
        for item in draft.items:
            for number, charge in enumerate(item.charges or (None,)):
                yield {**head, **_item(item, first=number == 0), **_charge(charge)}


def focus_lines(
    entries: Iterable[tuple[int, Draft]], *, months: Months, issuer: str, names: Mapping[str, str]
) -> Iterator[Line]:
    """Yield the FOCUS rows of what holds; `names` are accounts' names by tenant."""
    found = list(entries)
    booked = {(draft.tenant, sequence): draft.period for sequence, draft in found}
    undone = {
        (draft.tenant, draft.reverses)
        for _, draft in found
        if draft.reverses and booked.get((draft.tenant, draft.reverses)) == draft.period
    }
    for sequence, draft in found:
        if draft.kind is EntryKind.CLOSE or (draft.tenant, sequence) in undone:
            continue
        if draft.reverses and (draft.tenant, draft.reverses) in undone:
            continue
        for item in draft.items:
            for charge in item.charges:
                yield _focus(draft, item, charge, months=months, issuer=issuer, names=names)


def _item(item: Item | None, *, first: bool) -> Line:
    usage = None if item is None else item.usage
    kinds = ("model", "length_class", "inference_mode", "machine")
    if usage is None:
        return dict.fromkeys((*kinds, "treatment", "estimated", *SUMS))
    return {
        **{name: getattr(usage, name) for name in kinds},
        "treatment": str(usage.treatment),
        "estimated": usage.estimated,
        **{name: getattr(usage, name) if first else None for name in SUMS},
    }


def _charge(charge: Charged | None) -> Line:
    if charge is None:
        return dict.fromkeys(("charge", "quantity", "unit", "unit_price", "amount", "amount_exact"))
    return {
        "charge": charge.kind,
        "quantity": rounded(charge.quantity),
        "unit": charge.unit,
        "unit_price": rounded(charge.unit_price),
        "amount": rounded(charge.amount),
        "amount_exact": write_exact(charge.amount),
    }


def _focus(
    draft: Draft, item: Item, charge: Charged, *, months: Months, issuer: str, names: Mapping[str, str]
) -> Line:
    period = months.interval(draft.period)
    usage = item.usage
    amount = rounded(charge.amount)
    tags = {} if usage is None else {
        "length_class": usage.length_class,
        "inference_mode": usage.inference_mode,
        "machine": usage.machine,
        "treatment": str(usage.treatment),
    }  # fmt: skip
    counted: Line = dict(_NOT_COUNTED)
    if usage is not None:
        quantity = rounded(charge.quantity)
        counted = {
            "ConsumedQuantity": quantity,
            "ConsumedUnit": charge.unit,
            "PricingQuantity": quantity,
            "PricingUnit": charge.unit,
        }
    return {
        "BilledCost": amount,
        "BillingAccountId": draft.tenant,
        "BillingAccountName": names.get(draft.tenant, draft.tenant),
        "BillingCurrency": draft.currency,
        "BillingPeriodStart": utc_text(period.start),
        "BillingPeriodEnd": utc_text(period.end),
        "ChargeCategory": "Usage" if usage is not None else _CATEGORIES.get(draft.kind, "Adjustment"),
        "ChargeClass": "Correction"
        if draft.about != draft.period and draft.kind is not EntryKind.CREDIT
        else None,
        "ChargeDescription": " ".join(part for part in (charge.kind, draft.subject) if part),
        "ChargeFrequency": "Usage-Based" if usage is not None else "Recurring",
        "ChargePeriodStart": utc_text(draft.start),
        "ChargePeriodEnd": utc_text(draft.end),
        **counted,
        "ContractedCost": amount,
        "ContractedUnitPrice": rounded(charge.unit_price) if usage is not None else None,
        "EffectiveCost": amount,
        "InvoiceIssuerName": issuer,
        "ListCost": amount,
        "ListUnitPrice": rounded(charge.unit_price) if usage is not None else None,
        "PricingCategory": "Standard" if usage is not None else None,
        "ProviderName": issuer,
        "PublisherName": issuer,
        "ServiceCategory": "AI and Machine Learning",
        "ServiceName": "LLM inference" if usage is None else usage.model,
        "SkuId": charge.kind,
        "SkuPriceId": draft.price_version or None,
        "SubAccountId": draft.tenant,
        "Tags": tags,
    }
