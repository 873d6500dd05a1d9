"""Own where a request's time goes and how requests end: parts of one whole, as a bar and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.console.pages.charts.bars import Share, shares_bar
from fairclock.console.pages.charts.figure import Chart, Key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.console.pages.wording import Wording
    from fairclock.console.readings.models.figures import PhaseFigures, TrafficFigures

FAILURES = ("incomplete", "substituted", "capacity_rejected", "server_error", "timeout")
"""The outcomes that are the service's own failures."""


def phases_chart(phases: Sequence[PhaseFigures], words: Wording) -> Chart | None:
    """Return the mean request's way; None where none was measured in full."""
    known = [each for each in phases if each.share_ratio is not None and each.mean_seconds is not None]
    if not known:
        return None
    title = words.text("tenant.phases_title")
    names = {each.phase: words.word("phases", each.phase) for each in known}
    return Chart(
        title=title,
        drawing=shares_bar(
            title=title,
            height=34,
            shares=[
                Share(
                    style=f"fill-{each.phase}",
                    ratio=max(each.share_ratio or 0.0, 0.0),
                    name=words.ratio(each.share_ratio, least=0),
                    hint=f"{names[each.phase]} {words.seconds(each.mean_seconds)}",
                )
                for each in known
            ],
        ),
        key=[Key(style=f"fill-{each.phase}", name=names[each.phase], is_line=False) for each in known],
        columns=[
            words.shared.text("queueing.phase"),
            words.shared.text("queueing.mean"),
            words.shared.text("queueing.share"),
        ],
        rows=[
            [names[each.phase], words.seconds(each.mean_seconds), words.ratio(each.share_ratio)]
            for each in known
        ],
    )


def outcomes_chart(traffic: TrafficFigures | None, words: Wording) -> Chart | None:
    """Return how requests ended; None where there were none."""
    if traffic is None or not traffic.admitted:
        return None
    title = words.text("tenant.outcomes_title")
    groups = (
        ("fill-good", words.text("outcome_group.ok"), ("ok",)),
        ("fill-bad", words.text("outcome_group.failed"), FAILURES),
        (
            "fill-other",
            words.text("outcome_group.other"),
            ("client_error", "quota_rejected", "client_aborted"),
        ),
    )
    counts = {each.outcome: each.count for each in traffic.outcomes}
    shares = [
        Share(
            style=style,
            ratio=sum(counts.get(outcome, 0) for outcome in outcomes) / traffic.admitted,
            name=words.ratio(sum(counts.get(outcome, 0) for outcome in outcomes) / traffic.admitted),
            hint=name,
        )
        for style, name, outcomes in groups
    ]
    return Chart(
        title=title,
        drawing=shares_bar(title=title, shares=shares, height=34),
        key=[Key(style=style, name=name, is_line=False) for style, name, _ in groups],
        columns=[
            words.shared.text("traffic.outcome"),
            words.shared.text("traffic.requests"),
            words.shared.text("traffic.share"),
        ],
        rows=[
            [
                words.word("outcomes", each.outcome),
                words.integer(each.count),
                words.ratio(each.share_ratio, least=2),
            ]
            for each in traffic.outcomes
        ],
    )


def besides(traffic: TrafficFigures | None, words: Wording) -> list[tuple[str, str]]:
    """Return what is counted besides outcomes, where there is any."""
    if traffic is None:
        return []
    counted = {
        "unconfirmed": traffic.unconfirmed,
        "quarantined": traffic.quarantined,
        "ambiguous": traffic.ambiguous,
        "retried": traffic.retried,
    }
    return [(words.text(f"besides.{name}"), words.integer(value)) for name, value in counted.items() if value]
