"""Own a statement as FOCUS 1.x rows, for FinOps tools: what they add up is what the statement says.

Credits are ``ChargeCategory=Credit`` with a negative ``BilledCost``; ``ChargeClass=Correction`` only marks lines about a
period that was invoiced already. Tax is a row of its own for each rate.
"""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from billing.invoices.wording import description, language_of
from fairclock.documents.text import inert_cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FOCUS_COLUMNS = (
    "BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart",
    "ChargeCategory", "ChargeClass", "ChargeDescription", "ChargeFrequency", "ChargePeriodEnd", "ChargePeriodStart",
    "ConsumedQuantity", "ConsumedUnit", "ContractedCost", "ContractedUnitPrice", "EffectiveCost", "InvoiceId",
    "InvoiceIssuerName", "ListCost", "ListUnitPrice", "PricingCategory", "PricingQuantity", "PricingUnit", "ProviderName",
    "PublisherName", "ServiceCategory", "ServiceName", "SkuId", "SkuPriceId", "SubAccountId", "Tags",
)  # fmt: skip
_NUMBERS = frozenset(
    {"BilledCost", "ConsumedQuantity", "ContractedCost", "ContractedUnitPrice", "EffectiveCost", "ListCost",
     "ListUnitPrice", "PricingQuantity"}
)  # fmt: skip
_CATEGORIES = {"adjustments": "Adjustment", "credits": "Credit"}


def focus_rows(statement: Mapping[str, Any]) -> Iterator[dict[str, str | None]]:
    """Yield a row a line, and one for each rate of tax; null where FOCUS wants null."""
    head = _head(statement)
    versions = {each["name"]: each["sha256"] for each in statement["price_book"]["versions"]}
    for line in statement["lines"]:
        is_usage = line["section"] in {"charges", "corrections"} and line["unit_price"] is not None
        counted = is_usage and "/" not in line["quantity"]
        quantity, unit = (line["quantity"], line["unit"]) if counted else (None, None)
        price = line["unit_price"] if is_usage and "/" not in line["unit_price"] else None
        tags = {
            key: line[key]
            for key in ("machine", "treatment", "subject", "objective", "statement")
            if line[key]
        }
        category = "Usage" if is_usage else _CATEGORIES.get(line["section"], "Adjustment")
        yield {
            **head,
            **dict.fromkeys(("BilledCost", "ContractedCost", "EffectiveCost", "ListCost"), line["net"]),
            "ChargeCategory": category,
            "ChargeClass": "Correction" if line["section"] == "corrections" else None,
            "ChargeDescription": description(line, language_of("en")),
            "ChargeFrequency": "Usage-Based" if is_usage else "One-Time",
            "ConsumedQuantity": quantity,
            "ConsumedUnit": unit,
            "PricingQuantity": quantity,
            "PricingUnit": unit,
            "ContractedUnitPrice": price,
            "ListUnitPrice": price,
            "PricingCategory": "Standard" if is_usage else None,
            "ServiceName": line["model"] or head["ServiceName"],
            "SkuId": line["kind"] if is_usage else None,
            "SkuPriceId": versions.get(line["price_version"]) if is_usage else None,
            "Tags": json.dumps(tags, ensure_ascii=False, sort_keys=True),
        }
    for each in statement["totals"]["by_tax_rate"]:
        yield {
            **head,
            **dict.fromkeys(("BilledCost", "ContractedCost", "EffectiveCost", "ListCost"), each["tax"]),
            "ChargeCategory": "Tax",
            "ChargeDescription": f"Tax at {each['rate']} of {each['net']}",
            "ChargeFrequency": "One-Time",
        }


def focus_csv(statement: Mapping[str, Any]) -> bytes:
    """Return the rows as CSV; null is an empty cell, names are inert text."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(FOCUS_COLUMNS)
    for row in focus_rows(statement):
        writer.writerow([_cell(column, row[column]) for column in FOCUS_COLUMNS])
    return buffer.getvalue().encode("utf-8")


def _cell(column: str, value: str | None) -> str:
    if value is None:
        return ""
    return value if column in _NUMBERS else inert_cell(value)


def _head(statement: Mapping[str, Any]) -> dict[str, str | None]:
    issuer, customer = _english(statement["issuer"]), _english(statement["customer"])
    billing, service = statement["billing_period"], statement["service_period"]
    return {
        **dict.fromkeys(FOCUS_COLUMNS),
        "BillingAccountId": statement["tenant"],
        "BillingAccountName": customer or statement["tenant"],
        "BillingCurrency": statement["currency"]["code"],
        "BillingPeriodStart": billing["from"],
        "BillingPeriodEnd": billing["to"],
        "ChargePeriodStart": service["from"],
        "ChargePeriodEnd": service["to"],
        "InvoiceId": statement["number"],
        "InvoiceIssuerName": issuer,
        "ProviderName": issuer,
        "PublisherName": issuer,
        "ServiceCategory": "AI and Machine Learning",
        "ServiceName": "LLM inference",
        "SubAccountId": statement["tenant"],
        "Tags": "{}",
    }


def _english(party: Mapping[str, Any] | None) -> str | None:
    if party is None:
        return None
    names = party["name"]
    return str(names.get("en") or next(iter(names.values()), "")) or None
