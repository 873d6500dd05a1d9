"""Own the clause that is suggested where one is missing or malformed, by its path without numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.clauses.source import FileKind

if TYPE_CHECKING:
    from fairclock.clauses.problems import Path

PRICE_BOOK_FILE = FileKind(
    name="price book",
    example="examples/prices.yaml",
    begins="apiVersion: fairclock/v1 and kind: PriceBook",
)
_TOKENS = "tokens: {per: 1000000, uncached_prompt: 2.00, cached_prompt: 0.50, completion: 8.00}"
_TREATMENTS = "treatments: {aborted: tokens, incomplete: nothing, refused: nothing, retried: nothing}"
_EXAMPLES = {
    "apiVersion": "apiVersion: fairclock/v1",
    "kind": "kind: PriceBook",
    "id": "id: acme-2026-prices",
    "time_zone": "time_zone: Asia/Shanghai",
    "currency": "currency: {code: CNY, digits: 2}",
    "currency.code": "code: CNY",
    "currency.digits": "digits: 2",
    "rounding": "rounding: half_up",
    "issuer": "issuer: {name: Example Cloud Ltd., registration_id: 91310000MA1FL0XX4K}",
    "issuer.name": "name: Example Cloud Ltd.",
    "customers": "customers: [{tenants: [acme], name: Acme Finance Ltd.}]",
    "customers.tenants": "tenants: [acme]",
    "customers.name": "name: Acme Finance Ltd.",
    "exchange_rates": "exchange_rates: [{to: USD, digits: 2, rate: 0.1389, source: central parity, on: 2026-10-30}]",
    "exchange_rates.to": "to: USD",
    "exchange_rates.digits": "digits: 2",
    "exchange_rates.rate": "rate: 0.1389",
    "exchange_rates.source": "source: the central bank's parity",
    "exchange_rates.on": "on: 2026-10-30",
    "ceilings": "ceilings: [{length_class: short, per_call: 0.0015}]",
    "ceilings.length_class": "length_class: short",
    "ceilings.per_call": "per_call: 0.0015",
    "budgets": "budgets: [{tenants: [acme], per_month: 50000}]",
    "budgets.tenants": "tenants: [acme]",
    "budgets.per_month": "per_month: 50000",
    "versions": "versions: [{name: 2026-1, from: 2026-01-01, …}], as examples/prices.yaml does",
    "versions.name": "name: 2026-1",
    "versions.from": "from: 2026-01-01",
    "versions.base_fee": "base_fee: 0.0002",
    "versions.tokens": _TOKENS,
    "versions.models": "models: [{name: deepseek-v4, weight: 1.5}]",
    "versions.models.name": "name: deepseek-v4",
    "versions.models.weight": "weight: 1.0",
    "versions.models.tokens": _TOKENS,
    "versions.other_models": "other_models: {weight: 1.0}",
    "versions.machines": "machines: [{gpu: NVIDIA H200, price: 0.0012}]",
    "versions.machines.gpu": "gpu: NVIDIA H200",
    "versions.machines.price": "price: 0.0012",
    "versions.deployments": "deployments: {factors: {shared: 1.0, dedicated: 3.2, edge: 2.1}, default: shared}",
    "versions.deployments.factors": "factors: {shared: 1.0, dedicated: 3.2, edge: 2.1}",
    "versions.deployments.default": "default: shared",
    "versions.deployments.assigned": "assigned: [{to: dedicated, tenants: [acme]}]",
    "versions.deployments.assigned.to": "to: dedicated",
    "versions.treatments": _TREATMENTS,
    "versions.treatments.aborted": "aborted: tokens",
    "versions.treatments.incomplete": "incomplete: nothing",
    "versions.treatments.refused": "refused: nothing",
    "versions.treatments.retried": "retried: nothing",
    "versions.included": "included: [{of: completion, quantity: 1000000}]",
    "versions.included.of": "of: completion",
    "versions.included.quantity": "quantity: 1000000",
    "versions.tiers": "tiers: [{of: tokens, counted: graduated, steps: [{from: 0, discount: 0%}, {from: 1000000000, discount: 10%}]}]",
    "versions.tiers.of": "of: tokens",
    "versions.tiers.counted": "counted: graduated",
    "versions.tiers.steps": "steps: [{from: 0, discount: 0%}, {from: 1000000000, discount: 10%}]",
    "versions.tiers.steps.from": "from: 0",
    "versions.minimum": "minimum: {per_month: 1000.00}",
    "versions.minimum.per_month": "per_month: 1000.00",
    "versions.tax": "tax: {rate: 6%, name: {en: VAT, zh: 增值税}}",
    "versions.tax.rate": "rate: 6%",
    "versions.tokens.per": "per: 1000000",
    "versions.tokens.uncached_prompt": "uncached_prompt: 2.00",
    "versions.tokens.cached_prompt": "cached_prompt: 0.50",
    "versions.tokens.completion": "completion: 8.00",
}


def example_for(path: Path) -> str | None:
    """Return the clause to suggest at `path`; None where nothing general can be said."""
    return _EXAMPLES.get(".".join(str(step) for step in path if not isinstance(step, int)))
