"""Own promises and their budgets: what was delivered, what is left, and how it went down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.console.pages.charts.bars import rest_bar
from fairclock.console.pages.charts.figure import Chart, Key
from fairclock.console.pages.charts.lines import BOTTOM, TOP, Line, time_lines
from fairclock.console.pages.charts.scales import between
from fairclock.console.pages.overview import budget_left
from fairclock.console.pages.states import verdict_state

if TYPE_CHECKING:
    from fairclock.console.pages.wording import Wording
    from fairclock.console.readings.models.base import Part
    from fairclock.console.readings.models.figures import BudgetFigures, BurnDown, PromiseFigures
    from fairclock.console.readings.models.tenant import TenantPage

_LOWEST_SHOWN = -1.0
_DEEP = -0.25
_MICROSECONDS = 1_000_000


def promise_rows(page: TenantPage, words: Wording) -> list[dict[str, Any]]:
    """Return the promises as the table shows them, each with its budget."""
    budgets = {(each.objective, each.part): each for each in page.budgets}
    return [_row(each, budgets.get((each.objective, each.part)), words) for each in page.promises]


def _row(promise: PromiseFigures, budget: BudgetFigures | None, words: Wording) -> dict[str, Any]:
    ratio = None if budget is None else budget.remaining_ratio
    is_over = promise.over is not None and promise.allowed is not None and promise.over > promise.allowed
    return {
        "name": promise.objective,
        "part": _part(promise.part, words),
        "promised": promised(promise, words),
        "during": _during(promise.during, words),
        "delivered": _value(promise, promise.value, words),
        "n": _counted(promise, words),
        "over_allowed": f"{_amount(promise, promise.over, words)} / {_amount(promise, promise.allowed, words)}",
        "is_over": is_over,
        "bar": None if ratio is None else rest_bar(title=budget_left(ratio, words), ratio=ratio),
        "left": None if ratio is None else _left(budget, ratio, words),
        "left_is_over": ratio is not None and ratio < 0,
        "state": verdict_state(promise.verdict, words, is_issued=promise.is_issued),
        "note": _note(promise, words),
    }


def _left(budget: BudgetFigures | None, ratio: float, words: Wording) -> str:
    if budget is not None and budget.exhausted_at is not None:
        return words.text(
            "budget.used_up",
            left=budget_left(ratio, words),
            at=words.local(budget.exhausted_at).strftime("%m-%d %H:%M"),
        )
    return budget_left(ratio, words)


def promised(promise: PromiseFigures, words: Wording) -> str:
    """Return what was promised, in the report's words."""
    clock = words.word("clocks", promise.clock)
    if promise.kind == "latency" and promise.percentile is not None and promise.threshold is not None:
        return words.shared.text(
            "objectives.percentile",
            percentile=f"{promise.percentile:g}",
            clock=clock,
            threshold=f"{promise.threshold:g}",
        )
    shown = _value(promise, promise.threshold, words, is_threshold=True)
    if promise.kind == "availability":
        return words.shared.text("objectives.availability", target=shown)
    if promise.kind == "rate":
        return words.shared.text("objectives.rate", clock=clock, threshold=shown)
    if promise.kind == "cost":
        return words.shared.text("objectives.cost", threshold=shown)
    return words.shared.text("objectives.other", kind=promise.kind, threshold=shown)


def _value(
    promise: PromiseFigures, value: float | None, words: Wording, *, is_threshold: bool = False
) -> str:
    if value is None:
        if not is_threshold and promise.n and promise.kind == "latency":
            return words.shared.text("unanswered")
        return words.text("nothing")
    limits = [] if promise.threshold is None else [promise.threshold]
    if promise.threshold_unit == "ratio":
        return words.ratio(value, thresholds=limits, least=0 if is_threshold else 2)
    if promise.threshold_unit == "seconds":
        return f"{words.seconds(value, thresholds=limits)} {words.text('seconds_unit')}"
    return f"{value:g}"


def _amount(promise: PromiseFigures, value: float | None, words: Wording) -> str:
    if value is not None and promise.unit == "time":
        return words.length(value / _MICROSECONDS)
    return words.integer(value)


def _counted(promise: PromiseFigures, words: Wording) -> str | None:
    if promise.n is None:
        return None
    if promise.unit == "time":
        return words.length(promise.n / _MICROSECONDS)
    return words.text("promise.windows" if promise.unit == "windows" else "promise.requests", n=promise.n)


def _during(during: str | None, words: Wording) -> str | None:
    if during is None:
        return None
    if during.startswith("not "):
        return words.shared.text("objectives.outside_period", period=during.removeprefix("not "))
    return words.shared.text("objectives.during", period=during)


def _part(part: Part | None, words: Wording) -> str | None:
    if part is None:
        return None
    said = [
        words.shared.text(f"manner.part_{name}", value=value)
        for name, value in (("model", part.model), ("region", part.region))
        if value is not None
    ]
    return words.text("comma").join(said) or None


def _note(promise: PromiseFigures, words: Wording) -> str | None:
    if promise.reason is not None:
        return words.word("reason", promise.reason)
    if promise.verdict_without_exclusions != promise.verdict:
        other = verdict_state(promise.verdict_without_exclusions, words, is_issued=promise.is_issued)
        return words.text("promise.without_exclusions", verdict=other.word)
    return None


def burn_down_charts(page: TenantPage, words: Wording) -> list[tuple[str, Chart]]:
    """Return how each budget of requests went down; those without a point or an allowance are left out."""
    allowed = {each.objective: each.allowed for each in page.budgets if each.kind == "requests"}
    return [
        (each.objective, _burn_down(each, page, allowed[each.objective], words))
        for each in page.burn_downs
        if each.points and allowed.get(each.objective)
    ]


def _burn_down(burn: BurnDown, page: TenantPage, allowed: float, words: Wording) -> Chart:
    left: list[float | None] = [1 - each.spent / allowed for each in burn.points]
    lowest = min(value for value in left if value is not None)
    shown = [None if value is None else max(value, _LOWEST_SHOWN) for value in left]
    starts = [words.local(page.range.starts_at), *(words.local(each.at) for each in burn.points[:-1])]
    end = words.local(burn.points[-1].at)
    whole = (page.range.ends_at - page.range.starts_at).total_seconds() or 1.0
    pace: list[float | None] = [
        1 - (each.at - page.range.starts_at).total_seconds() / whole for each in burn.points
    ]
    axis = between(
        max(lowest, _LOWEST_SHOWN) if lowest < 0 else 0.0,
        1.0,
        step=0.5 if lowest < _DEEP else 0.25,
        top=TOP,
        bottom=BOTTOM,
    )
    title = words.text("tenant.burn_down_title", objective=burn.objective)
    return Chart(
        title=title,
        drawing=time_lines(
            title=title,
            starts=starts,
            end=end,
            lines=[Line(style="even", values=pace), Line(style="left", values=shown, is_area=True)],
            axis=axis,
            write=lambda tick: words.ratio(round(tick, 4), least=0),
        ),
        key=[
            Key(style="left", name=words.text("budget.left_of_it")),
            Key(style="even", name=words.text("budget.even_pace")),
        ],
        columns=[
            words.text("chart.to"),
            words.text("budget.left_of_it"),
            words.text("budget.even_pace"),
            words.text("budget.spent"),
            words.text("tenant.counted"),
        ],
        rows=[
            [
                words.local(point.at).strftime("%m-%d %H:%M"),
                words.ratio(value, least=0),
                words.ratio(even, least=0),
                words.integer(point.spent),
                words.integer(point.n),
            ]
            for point, value, even in zip(burn.points, left, pace, strict=True)
        ],
        follows=True,
    )
