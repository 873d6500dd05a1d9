"""Own what a demonstration says in the end: the same requests ranked with and without queueing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from fairclock.model import Clock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
    }


def print_summary(summary: Mapping[str, Any], console: Console) -> None:
    """Print the summary for a person."""
    console.print()
    console.print(
        f"[bold]{summary['requests']:,} simulated requests[/], {summary['month']} {summary['time_zone']}"
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("tenant", no_wrap=True)
    for name in ("P99 with\nqueueing", "P99 without\nqueueing", "P99\ninference"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("the contract says", no_wrap=True)
    table.add_column("delivered", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for tenant in summary["tenants"]:
        for row in _rows(tenant):
            table.add_row(*row)
        table.add_section()
    console.print(table)
    for tenant in summary["tenants"]:
        if (point := _point(tenant)) is not None:
            console.print(point)
    console.print()
    stages = " · ".join(f"{each['name']} {each['seconds']:.1f} s" for each in summary["stages"])
    console.print(f"[dim]{stages} · together {summary['seconds']:.1f} s[/]", highlight=False)
    console.print("Open, in English or Chinese:")
    for path in summary["reports"]:
        if path.endswith(".pdf"):
            console.print(Text("  " + path), soft_wrap=True)
    console.print(Text(f"All files: {summary['out']}"), soft_wrap=True)


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
                    "verdict",
                )
            }
            for objective in report["objectives"]
        ],
    }


def _rows(tenant: Mapping[str, Any]) -> Iterator[tuple[Text | str, ...]]:
    """Yield the tenant's lines of the table: its P99s beside its first objective, then the others."""
    first: tuple[Text | str, ...] = (
        Text(tenant["customer"]),
        _seconds(tenant["p99_with_queueing"]),
        _seconds(tenant["p99_without_queueing"]),
        _seconds(tenant["p99_inference"]),
    )
    for objective in tenant["objectives"]:
        word, style = _WORDS[objective["verdict"]]
        value = objective["value"]
        if objective["kind"] == "latency":
            promise = f"{objective['name']} ≤ {_seconds(objective['threshold'])}"
            delivered = "unanswered" if value is None and objective["n"] else _seconds(value)
        else:
            promise = f"{objective['name']} ≥ {_percent(objective['threshold'])}"
            delivered = _percent(value)
        yield (*first, Text(promise), delivered, Text(word, style=style))
        first = ("", "", "", "")


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
        f"{tenant['customer']}: {met['name']} ({_seconds(met['threshold'])}) is met with"
        f" {_seconds(met['value'])}, while {broken['name']} ({_seconds(broken['threshold'])}) is at risk"
        f" with {_seconds(broken['value'])}. Same requests; the clock starts earlier."
    )


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f} s"


def _percent(ratio: float | None) -> str:
    """Print a ratio with enough digits to stay below 100 % and on its side of a target."""
    return "–" if ratio is None else f"{ratio * 100:.4f}".rstrip("0").rstrip(".") + " %"
