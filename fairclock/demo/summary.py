"""Own what a demonstration says in the end: the same requests ranked with and without queueing."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from fairclock.demo.ledger_summary import ledger_json, ledger_table
from fairclock.documents.numbers import exact, places_beside, rounded
from fairclock.model import Clock

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from decimal import Decimal

    from rich.console import Console

    from fairclock.demo.stages import Demonstration
    from fairclock.demo.workspace import Workspace

_WORDS = {
    "met": ("met", "green"),
    "violated": ("at risk", "bold red"),  # nothing is violated before a report is issued
    "insufficient_data": ("too few", "yellow"),
    "not_measured": ("not measured", "yellow"),
}


def summary_json(demonstration: Demonstration, workspace: Workspace) -> dict[str, Any]:
    """Return the summary as plain JSON values; seconds are numbers."""
    simulated = demonstration.simulated
    return {
        "simulated": True,
        "month": simulated.month.name,
        "time_zone": simulated.month.zone,
        "requests": simulated.requests,
        "gateway": _counts(demonstration.gateway),
        "engine": _counts(demonstration.engine),
        "hours_sealed": demonstration.hours_sealed,
        "tenants": [_tenant(report) for report in demonstration.reports],
        "stages": [
            {"name": stage.name, "seconds": round(stage.seconds, 3)} for stage in demonstration.stages
        ],
        "seconds": round(sum(stage.seconds for stage in demonstration.stages), 3),
        "out": str(workspace.root),
        "reports": [str(path) for path in demonstration.files],
        "ledger": ledger_json(demonstration.billed),
        "invoices": [str(path) for path in demonstration.invoices],
        "exclusions": demonstration.exclusions,
        "issued": [str(path) for path in demonstration.issued],
        "bundle": str(demonstration.bundle),
    }


def print_summary(summary: Mapping[str, Any], console: Console) -> None:
    """Print the summary for a person, in 80 columns."""
    console.print(
        f"\n[bold]{summary['requests']:,} simulated requests[/], {summary['month']}, {summary['time_zone']}\n"
    )
    console.print(_percentiles(summary["tenants"]))
    console.print(_clauses(summary["tenants"]))
    for tenant in summary["tenants"]:
        if (point := _point(tenant)) is not None:
            console.print(point)
    console.print(ledger_table(summary["ledger"]))
    stages = " · ".join(f"{each['name']} {each['seconds']:.1f} s" for each in summary["stages"])
    console.print(f"\n[dim]{stages} · together {summary['seconds']:.1f} s[/]\n", highlight=False)
    console.print("Reports, as PDF, HTML, JSON and CSV (.zh: Chinese):")
    for path in summary["reports"]:
        if path.endswith(".pdf"):
            console.print(Text("  " + path), soft_wrap=True)
    console.print("Statements of charges, as PDF, HTML, JSON and CSV (.zh: Chinese):")
    for path in summary["invoices"]:
        if path.endswith("-invoice.pdf"):
            console.print(Text("  " + path), soft_wrap=True)
    if summary["issued"]:
        console.print("A report as it was issued, and its signature:")
        for path in summary["issued"]:
            console.print(Text("  " + path), soft_wrap=True)
    console.print("A report's evidence, for somebody without Fairclock to count again (python verify.py):")
    console.print(Text("  " + summary["bundle"]), soft_wrap=True)
    console.print(Text(f"Logs, contracts, prices and store: {summary['out']}"), soft_wrap=True)


def _percentiles(tenants: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table of P99s: the same requests of each tenant, ranked three times."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="P99 of the same requests", title_justify="left")
    table.add_column("tenant", no_wrap=True)
    for name in ("requests", "with queueing", "without", "inference", "met"):
        table.add_column(name, justify="right", no_wrap=True)
    for tenant in tenants:
        objectives = tenant["objectives"]
        met = sum(each["verdict"] == "met" for each in objectives)
        table.add_row(
            Text(tenant["customer"]),
            f"{tenant['requests']:,}",
            Text(_seconds(tenant["p99_with_queueing"]), style="bold"),
            _seconds(tenant["p99_without_queueing"]),
            _seconds(tenant["p99_inference"]),
            f"{met} of {len(objectives)}",
        )
    return table


def _clauses(tenants: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table of what each contract says and what was delivered."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="What the contracts say", title_justify="left")
    table.add_column("clause", no_wrap=True)
    for name in ("promised", "delivered", "over / allowed"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for tenant in tenants:
        table.add_row(Text(tenant["customer"], style="bold"))
        for objective in tenant["objectives"]:
            word, style = _WORDS[objective["verdict"]]
            table.add_row(
                Text("  " + objective["name"]),
                *_promise(objective),
                f"{objective['violations'] or 0:,} / {objective['allowed'] or 0:,}",
                Text(word, style=style),
            )
    return table


def _promise(objective: Mapping[str, Any]) -> tuple[str, str]:
    """Return what was promised and what was delivered."""
    threshold, value = objective["threshold"], objective["value"]
    if objective["kind"] != "latency":
        return f"≥ {_percent(threshold)}", _percent(value, threshold)
    # the rank may fall on a request that was never answered, and has no time
    delivered = "no answer" if value is None and objective["n"] else _seconds(value, threshold)
    return f"≤ {_seconds(threshold)}", delivered


def _counts(counts: Any) -> dict[str, int]:
    names = ("read", "stored", "duplicates", "ignored", "dead_letters")
    return {name: getattr(counts, name) for name in names}


def _tenant(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return of one contract's report what the summary shows."""
    p99 = {row["clock"]: row["p99"] for row in report["latency"]}
    return {
        "contract": report["contract"]["id"],
        "customer": report["contract"]["customer"]["name"],
        "requests": report["traffic"]["admitted"],
        "outcomes": report["traffic"]["outcomes"],
        "p99_with_queueing": p99.get(Clock.END_TO_END),
        "p99_without_queueing": p99.get(Clock.EXCLUDING_QUEUE),
        "p99_inference": p99.get(Clock.INFERENCE),
        "objectives": [
            {
                key: objective[key]
                for key in (
                    "name",
                    "kind",
                    "clock",
                    "percentile",
                    "during",
                    "where",
                    "threshold",
                    "value",
                    "n",
                    "violations",
                    "allowed",
                    "verdict",
                )
            }
            for objective in report["objectives"]
        ],
    }


def _point(tenant: Mapping[str, Any]) -> Text | None:
    """Return the sentence this is all about, where an inference clause is met and an end-to-end one is not."""

    def found(clock: str, verdict: str) -> Mapping[str, Any] | None:
        return next(
            (each for each in tenant["objectives"] if each["clock"] == clock and each["verdict"] == verdict),
            None,
        )

    met, broken = found(Clock.INFERENCE, "met"), found(Clock.END_TO_END, "violated")
    if met is None or broken is None:
        return None
    return Text(
        f"{tenant['customer']}: {met['name']} (≤ {_seconds(met['threshold'])}) is met with"
        f" {_promise(met)[1]}; {broken['name']} (≤ {_seconds(broken['threshold'])}) is at risk with"
        f" {_promise(broken)[1]}. The same requests; only the clock starts earlier."
    )


def _seconds(value: float | None, threshold: float | None = None) -> str:
    """Print seconds to the millisecond, or as exactly as it takes to stay on the same side of `threshold`."""
    return "–" if value is None else f"{_beside(exact(value), threshold, least=3)} s"


def _percent(ratio: float | None, threshold: float | None = None) -> str:
    """Print a ratio as a percentage that stays on the same side of `threshold`, and of 100 %."""
    if ratio is None:
        return "–"
    hundredfold = None if threshold is None else 100 * exact(threshold)
    return f"{_beside(100 * exact(ratio), hundredfold, Fraction(100), least=2)} %"


def _beside(value: Fraction, *thresholds: float | Fraction | None, least: int) -> Decimal:
    known = [exact(each) for each in thresholds if each is not None]
    return rounded(value, places_beside(value, known, least=least))
