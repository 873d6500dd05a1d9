"""Own what a demonstration says of its ledger: what each tenant used, what that costs, and what is billed."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from billing.ledger import write_exact
from fairclock.documents.numbers import rounded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairclock.demo.billing import Billed

_PICOSECONDS = 10**12


def ledger_json(billed: Billed) -> dict[str, Any]:
    """Return what the ledger came to as plain JSON values; amounts are texts, those of rows exact and before tax."""
    statements = {each["tenant"]: each for each in billed.statements}
    tenants = []
    for row in billed.rows:
        (tenant,) = row.keys
        statement = statements[tenant]
        per_call = row.per_1000_requests
        tenants.append(
            {
                "tenant": tenant,
                "requests": row.requests,
                "prompt_tokens": row.prompt_tokens,
                "completion_tokens": row.completion_tokens,
                "gpu_seconds": _plain(Fraction(row.gpu_picoseconds, _PICOSECONDS), 1),
                "currency": row.currency,
                "amount": write_exact(row.amount),
                "per_1000_requests": None if per_call is None else _plain(per_call, 2),
                "number": statement["number"],
                "net": statement["totals"]["net"],
                "gross": statement["totals"]["gross"],
            }
        )
    return {
        "state": "final" if billed.is_final else "open",
        "entries_verified": billed.entries,
        "tenants": tenants,
    }


def ledger_table(ledger: Mapping[str, Any]) -> Table:
    """Return the table of what each tenant used and is billed."""
    title = f"The ledger: {ledger['entries_verified']:,} entries verified, the month is {ledger['state']}"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    table.add_column("tenant", no_wrap=True)
    currencies = ", ".join(sorted({each["currency"] for each in ledger["tenants"]}))
    for name in ("requests", "tokens", "GPU-s", f"net, {currencies}", "with tax"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in ledger["tenants"]:
        table.add_row(
            Text(each["tenant"]),
            f"{each['requests']:,}",
            f"{each['prompt_tokens'] + each['completion_tokens']:,}",
            each["gpu_seconds"],
            each["net"],
            each["gross"],
        )
    return table


def _plain(value: Fraction, places: int) -> str:
    return f"{rounded(value, places):f}"
