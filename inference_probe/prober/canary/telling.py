"""Own how a decision is told: a line, and an event to the configured webhooks, each attempt written down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporters.webhooks.event import AlertEvent, Severity, State
from exporters.webhooks.formats.format import Outcome
from exporters.webhooks.once import send_once
from inference_probe.prober.canary.deciding import Recommendation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from exporters.webhooks.destination import Destination
    from exporters.webhooks.outbox import Outbox
    from inference_probe.prober.canary.deciding import Decision

RULE = "canary"
_SEVERITIES = {
    Recommendation.ROLLBACK: Severity.CRITICAL,
    Recommendation.HOLD: Severity.WARNING,
    Recommendation.ADVANCE: Severity.INFO,
    Recommendation.FINISH: Severity.INFO,
}
_CHINESE = {
    Recommendation.ROLLBACK: "建议回滚",
    Recommendation.HOLD: "建议维持当前比例",
    Recommendation.ADVANCE: "建议提高比例",
    Recommendation.FINISH: "建议全量发布",
}


def decision_line(decision: Decision) -> str:
    """Return one line on a decision."""
    return (
        f"canary at {decision.share_percent:g} %: {decision.recommendation.value}"
        f" to {decision.next_percent:g} % ({'; '.join(decision.reasons)})"
    )


def decision_event(decision: Decision, *, run: str, step: int, now: datetime) -> AlertEvent:
    """Return the event; the alert is the run's own, and each step is a change of it. The last good one resolves it."""
    is_over = decision.recommendation is Recommendation.FINISH
    return AlertEvent(
        alert_id=f"{RULE}/{run}",
        sequence=step + 1,
        state=State.RESOLVED if is_over else State.FIRING,
        severity=_SEVERITIES[decision.recommendation],
        at=now,
        since=now,
        contract_id=RULE,
        rule=RULE,
        summary_en=decision_line(decision),
        summary_zh=f"灰度 {decision.share_percent:g}%：{_CHINESE[decision.recommendation]}"
        f"（目标 {decision.next_percent:g}%）：{'；'.join(decision.reasons_zh)}",
        value=decision.recommendation.value,
    )


def ended_event(last: Decision, *, run: str, steps: int, now: datetime) -> AlertEvent:
    """Return the event of a comparison that somebody ended after so many steps: what was recommended last holds no more."""
    return AlertEvent(
        alert_id=f"{RULE}/{run}",
        sequence=steps + 1,
        state=State.RESOLVED,
        severity=_SEVERITIES[last.recommendation],
        at=now,
        since=now,
        contract_id=RULE,
        rule=RULE,
        summary_en=f"canary: it was ended at {last.next_percent:g} %, nothing is recommended",
        summary_zh=f"灰度：比较在 {last.next_percent:g}% 时被终止，不作建议",
        value="ended",
    )


def send_decision(
    event: AlertEvent,
    places: Sequence[Destination],
    outbox: Outbox,
    *,
    now: Callable[[], datetime],
    new_id: Callable[[], str],
) -> list[str]:
    """Send to each place that wants it, keep event and attempts, and return what went wrong, a sentence each."""
    problems = []
    for place in places:
        if not place.rules.wants(event):
            continue
        attempt = send_once(place, event, outbox, now=now, new_id=new_id)
        if attempt.outcome is not Outcome.TAKEN:
            problems.append(f"{place.name}: {attempt.problem or attempt.status}")
    outbox.keep([event])
    return problems
