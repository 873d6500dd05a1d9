"""Own who bills whom, as law wants it on a statement: legal names, registration ids, addresses, terms of payment."""

# Clauses read their annotations when the program runs.
# ruff: noqa: TC001

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from billing.prices.fields import RegistrationId, Texts
from fairclock.clauses.clause import Clause
from fairclock.clauses.fields import Count, Text


class Names(Clause):
    """A name in the languages it was registered in."""

    en: Text | None = None
    zh: Text | None = None

    def in_language(self, language: str) -> str:
        """Return the name in `language`, else in the other one."""
        wanted, other = (self.zh, self.en) if language == "zh" else (self.en, self.zh)
        return wanted or other or ""


def _names(value: Any) -> Any:
    return {"en": value, "zh": value} if isinstance(value, str) else value


NamesClause = Annotated[Names, BeforeValidator(_names, json_schema_input_type=str | Names)]


class Issuer(Clause):
    """Who bills, by its legal name; `registration_id` is the 统一社会信用代码, or what stands in its place."""

    name: NamesClause
    registration_id: RegistrationId | None = None
    address: NamesClause | None = None
    contact: Text | None = None
    bank: Text | None = None


class EInvoice(Clause):
    """What the tax invoice needs that will be written elsewhere; passed through and never judged."""

    type: Text | None = None
    item_name: Text | None = None
    tax_classification_code: Text | None = None
    recipient: Text | None = None


class Customer(Clause):
    """Who is billed for some tenants."""

    tenants: Texts
    name: NamesClause
    registration_id: RegistrationId | None = None
    address: NamesClause | None = None
    contract: Text | None = None
    order_number: Text | None = None
    due_days: Count | None = None
    einvoice: EInvoice | None = None
