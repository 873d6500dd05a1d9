"""Own how alerts and silences are listed: as plain values, and as lines for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exporters.webhooks.text import plain
from fairclock.model import utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from exporters.webhooks.silences import Silence

_ALERT_KEYS = (
    "alert_id", "sequence", "state", "severity", "contract", "objective", "rule", "since", "summary_en", "event_id",
)  # fmt: skip
_DELIVERY_KEYS = (
    "destination",
    "delivery",
    "message_id",
    "delivery_id",
    "attempts",
    "http_status",
    "problem",
)


def alert_trees(rows: Iterable[Mapping[str, Any]], *, every: bool) -> list[dict[str, Any]]:
    """Return the alerts with their deliveries, in order of their last change; `every` change, or only the last."""
    changes: dict[tuple[str, int], dict[str, Any]] = {}
    for row in rows:
        key = (row["alert_id"], row["sequence"])
        if key not in changes:
            tree = {name: row[name] for name in _ALERT_KEYS}
            tree |= {"frozen_reason": row["frozen_reason"] or None, "changed_at": utc_text(row["changed_at"])}
            changes[key] = {**tree, "deliveries": []}
        if row["destination"]:
            delivery = {name: row[name] for name in _DELIVERY_KEYS}
            retry_at = row["retry_at"]
            delivery["retry_at"] = None if retry_at is None else utc_text(retry_at)
            changes[key]["deliveries"].append(delivery)
    if every:
        return list(changes.values())
    last = {tree["alert_id"]: tree for tree in sorted(changes.values(), key=lambda tree: tree["sequence"])}
    return [tree for tree in changes.values() if last[tree["alert_id"]] is tree]


def alert_lines(alerts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each alert and, below it, one for each destination."""
    for alert in alerts:
        name = f"{plain(alert['alert_id'])} #{alert['sequence']}"
        yield f"{alert['changed_at']}  {alert['state']:8}  {alert['severity']:8}  {name}"
        if alert["frozen_reason"]:
            yield f"    frozen, because: {plain(alert['frozen_reason'])}"
        for delivery in alert["deliveries"]:
            attempts = f" after {_times(delivery['attempts'])}" if delivery["attempts"] else ""
            again = f", again at {delivery['retry_at']}" if delivery["delivery"] == "failed" else ""
            problem = f": {plain(delivery['problem'])}" if delivery["problem"] else ""
            yield f"    {delivery['destination']}: {delivery['delivery']}{attempts}{again}{problem}"


def silence_tree(silence: Silence) -> dict[str, Any]:
    """Return a silence as plain values."""
    return {
        "id": silence.id,
        "matchers": [f"{name}={pattern}" for name, pattern in silence.matchers],
        "from": utc_text(silence.start),
        "to": utc_text(silence.end),
        "author": silence.author,
        "reason": silence.reason,
    }


def silence_line(silence: Silence) -> str:
    """Return a silence as one line."""
    tree = silence_tree(silence)
    matchers = " ".join(plain(each) for each in tree["matchers"])
    return (
        f"{tree['id']}  silent from {tree['from']} to {tree['to']}: {matchers}"
        f" ({plain(silence.author)}: {plain(silence.reason)})"
    )


def _times(attempts: int) -> str:
    return "1 attempt" if attempts == 1 else f"{attempts} attempts"
