"""Own how an entry's bytes become an entry again."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from billing.ledger.entries import SCHEMA, Charged, Draft, Entry, EntryKind, Item
from billing.ledger.exact import read_exact
from billing.usage import Treatment, Usage


class UnreadableEntryError(ValueError):
    """Bytes that are no entry; the text says why."""


def read_entry(body: bytes, previous: str) -> Entry:
    """Return the entry that `body` is the canonical bytes of; UnreadableEntryError if it is none, or is written otherwise."""
    try:
        tree = json.loads(body, parse_float=_no_float)
        _require_schema(tree["schema"])
        entry = Entry(draft=_draft(tree), sequence=tree["sequence"], previous=previous)
        written = entry.body()
    except UnreadableEntryError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError, RecursionError) as error:
        raise UnreadableEntryError(f"it cannot be read: {type(error).__name__}") from error
    if written != body:
        # postings that do not balance, or are not those of the charges, end here too
        raise UnreadableEntryError("its bytes are not the canonical ones of what they say")
    return entry


def _no_float(text: str) -> Any:
    raise UnreadableEntryError(f"it holds the number {text}, which is not exact")


def _require_schema(schema: object) -> None:
    if schema != SCHEMA:
        raise UnreadableEntryError(f"its schema is {schema!r}, not {SCHEMA}")


def _draft(tree: dict[str, Any]) -> Draft:
    start, end = _instant(tree["from"]), _instant(tree["to"])
    return Draft(
        kind=EntryKind(tree["kind"]),
        tenant=tree["tenant"],
        start=start,
        end=end,
        period=tree["period"],
        about=tree["about"],
        currency=tree["currency"],
        price_version=tree["price_version"],
        subject=tree["subject"],
        items=tuple(_item(each, tree["tenant"], start, end) for each in tree["items"]),
        reverses=tree["reverses"],
        facts=dict(tree["facts"]),
    )


def _item(tree: dict[str, Any], tenant: str, start: datetime, end: datetime) -> Item:
    usage = tree["usage"]
    if usage is not None:
        usage = Usage(
            **{
                **usage,
                "tenant": tenant,
                "start": start,
                "end": end,
                "hour": _instant(usage["hour"]),
                "treatment": Treatment(usage["treatment"]),
            }
        )
    return Item(
        usage=usage,
        charges=tuple(
            Charged(
                kind=each["kind"],
                quantity=read_exact(each["quantity"]),
                unit=each["unit"],
                unit_price=read_exact(each["unit_price"]),
                amount=read_exact(each["amount"]),
            )
            for each in tree["charges"]
        ),
    )


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
