"""Own a tenant's page: its clocks, with and without queueing side by side, and what follows for its promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.console.pages.budgets import burn_down_charts, promise_rows
from fairclock.console.pages.charts.bars import Spread, SpreadScale, spread_bar
from fairclock.console.pages.charts.figure import Chart, Key
from fairclock.console.pages.charts.lines import BOTTOM, TOP, Limit, Line, time_lines
from fairclock.console.pages.charts.scales import upward
from fairclock.console.pages.gauges import gauge_charts
from fairclock.console.pages.mix import FAILURES, besides, outcomes_chart, phases_chart
from fairclock.console.pages.tiles import Tile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.console.pages.wording import Wording
    from fairclock.console.readings.models.figures import ClockFigures, TrafficFigures
    from fairclock.console.readings.models.tenant import TenantPage

_P99 = 99


def tenant_parts(page: TenantPage, words: Wording) -> dict[str, Any]:
    """Return what the template of a tenant's page needs beside the reading."""
    chosen = next((each for each in page.contracts if each.contract == page.contract), None)
    return {
        "chosen": chosen,
        "contract_options": [
            (each.contract, f"{words.in_language(each.title)} · {each.contract}") for each in page.contracts
        ],
        "tiles": _tiles(page, words),
        "latency": latency_chart(page, words),
        "clocks": _clocks(page.clocks, words),
        "phases": phases_chart(page.phases, words),
        "outcomes": outcomes_chart(page.traffic, words),
        "besides": besides(page.traffic, words),
        "promises": promise_rows(page, words),
        "burn_downs": burn_down_charts(page, words),
        "gauges": gauge_charts(page.gauges, page.range, words),
        "is_simulated": page.traffic is not None and page.traffic.is_simulated,
        "announcement": words.text(
            "tenant.announce", firing=words.integer(sum(each.state == "firing" for each in page.alerts))
        ),
    }


def _clock(page: TenantPage, name: str) -> ClockFigures | None:
    return next((each for each in page.clocks if each.clock == name and each.n), None)


def _tiles(page: TenantPage, words: Wording) -> list[Tile]:
    tiles = []
    values = {}
    for name in ("end_to_end", "excluding_queue", "time_to_first_token"):
        figures = _clock(page, name)
        value = None if figures is None else figures.p99_seconds
        values[name] = value
        tiles.append(
            Tile(
                name=words.text(f"tenant.tile_{name}"),
                value=words.text("missing") if value is None else words.seconds(value),
                unit="" if value is None else words.text("seconds_unit"),
                is_missing=value is None,
                note=""
                if figures is None or figures.p50_seconds is None
                else words.text("tenant.median", value=words.seconds(figures.p50_seconds)),
            )
        )
    queue = next((each for each in page.phases if each.phase == "queue"), None)
    share = None if queue is None else queue.share_ratio
    tiles.append(
        Tile(
            name=words.text("tenant.tile_queue"),
            value=words.text("missing") if share is None else words.ratio(share),
            is_missing=share is None,
            note=words.text("tenant.tile_queue_note"),
        )
    )
    tiles.append(_requests_tile(page.traffic, words))
    coverage = page.coverage
    gateway = None if coverage is None else coverage.gateway_ratio
    tiles.append(
        Tile(
            name=words.text("tenant.tile_coverage"),
            value=words.text("missing") if gateway is None else words.ratio(gateway),
            is_missing=gateway is None,
            note=""
            if coverage is None
            else words.text(
                "tenant.tile_coverage_note",
                engine=words.ratio(coverage.engine_ratio),
                joined=words.ratio(coverage.joined_ratio),
            ),
        )
    )
    return tiles


def _requests_tile(traffic: TrafficFigures | None, words: Wording) -> Tile:
    name = words.text("tenant.tile_requests")
    if traffic is None:
        return Tile(name=name, value=words.text("missing"), is_missing=True)
    failed = sum(each.count for each in traffic.outcomes if each.outcome in FAILURES)
    return Tile(
        name=name,
        value=words.integer(traffic.admitted),
        note=words.text("tenant.failed", n=failed) if failed else words.text("tenant.none_failed"),
        is_risk=bool(failed),
    )


def latency_chart(page: TenantPage, words: Wording) -> Chart | None:
    """Return the P99 with and without queueing over the range; None where no stretch has a request."""
    points = page.latency
    if not any(each.p99_with_queue_seconds is not None for each in points):
        return None
    limit = _limit(page, words)
    values = [
        value
        for each in points
        for value in (each.p99_with_queue_seconds, each.p99_without_queue_seconds)
        if value is not None
    ]
    axis = upward([*values, *([] if limit is None else [limit.value])], top=TOP, bottom=BOTTOM)
    title = words.text("tenant.latency_log" if axis.is_logarithmic else "tenant.latency_title")
    with_queue, without = (
        words.shared.text("queueing.with_queue"),
        words.shared.text("queueing.without_queue"),
    )
    return Chart(
        title=title,
        drawing=time_lines(
            title=title,
            starts=[words.local(each.starts_at) for each in points],
            end=words.local(points[-1].ends_at),
            lines=[
                Line(style="with-queue", values=[each.p99_with_queue_seconds for each in points]),
                Line(style="without-queue", values=[each.p99_without_queue_seconds for each in points]),
            ],
            axis=axis,
            write=lambda tick: f"{tick:g} {words.text('seconds_unit')}",
            limit=limit,
        ),
        key=[Key(style="with-queue", name=with_queue), Key(style="without-queue", name=without)],
        columns=[words.text("chart.from"), with_queue, without, words.text("tenant.counted")],
        rows=[
            [
                words.local(each.starts_at).strftime("%m-%d %H:%M"),
                words.seconds(each.p99_with_queue_seconds),
                words.seconds(each.p99_without_queue_seconds),
                words.integer(each.n),
            ]
            for each in points
        ],
        follows=True,
    )


def _limit(page: TenantPage, words: Wording) -> Limit | None:
    """Return the P99 promise on the whole way that covers most requests, the strictest of equals."""
    found = [
        each
        for each in page.promises
        if each.kind == "latency"
        and each.clock == "end_to_end"
        and each.percentile == _P99
        and each.threshold is not None
    ]
    if not found:
        return None
    chosen = min(found, key=lambda each: (-(each.n or 0), each.threshold))
    value = chosen.threshold or 0.0
    return Limit(value=value, name=words.text("tenant.limit", objective=chosen.objective, value=f"{value:g}"))


def _clocks(clocks: Sequence[ClockFigures], words: Wording) -> list[dict[str, Any]]:
    spreads = {each.clock: spread for each in clocks if (spread := _spread(each)) is not None}
    scale = SpreadScale(list(spreads.values()))
    rows = []
    for each in clocks:
        name = words.word("clocks", each.clock)
        spread = spreads.get(each.clock)
        style = {"end_to_end": "fill-bad", "queue": "fill-queue"}.get(each.clock, "fill-plain")
        interval = each.p99_interval_seconds
        rows.append(
            {
                "name": name,
                "bar": None
                if spread is None
                else spread_bar(title=name, spread=spread, scale=scale, style=style),
                "p50": words.seconds(each.p50_seconds),
                "p95": words.seconds(each.p95_seconds),
                "p99": words.seconds(each.p99_seconds),
                "interval": None if interval is None else _interval(*interval, words),
                "most": words.seconds(each.max_seconds),
                "n": words.integer(each.n),
            }
        )
    return rows


def _interval(low: float | None, high: float | None, words: Wording) -> str | None:
    if low is None and high is None:
        return None
    if high is None:
        return words.shared.text("details.interval_or_more", low=words.seconds(low))
    if low is None:
        return words.shared.text("details.interval_or_less", high=words.seconds(high))
    return f"{words.seconds(low)} – {words.seconds(high)}"


def _spread(figures: ClockFigures) -> Spread | None:
    values = (figures.p50_seconds, figures.p95_seconds, figures.p99_seconds, figures.max_seconds)
    if any(value is None for value in values):
        return None
    p50, p95, p99, most = (value or 0.0 for value in values)
    return Spread(p50=p50, p95=p95, p99=p99, most=most)
