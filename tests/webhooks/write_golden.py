"""Write the golden payloads anew: python -m tests.webhooks.write_golden; then read the difference."""

from __future__ import annotations

import json
from pathlib import Path

from exporters.webhooks.event import Severity
from exporters.webhooks.formats.registry import FORMATS
from tests.webhooks.factories import good_event, outgoing

FOLDER = Path(__file__).parent / "golden"

EVENTS = {
    "firing": [good_event()],
    "resolved": [good_event(2, "resolved", seconds=600, bad=0, queue_share_ratio=0.0)],
    "frozen": [
        good_event(
            2,
            "frozen",
            severity=Severity.WARNING,
            frozen_reason="the gateway's log has been silent for 95 s",
            bad=None,
            n=None,
            value=None,
            budget_left_ratio=None,
            coverage_ratio=None,
            data_age_seconds=None,
            queue_share_ratio=None,
            objective=None,
            clock=None,
            incident=None,
            link=None,
            tenants=(),
            window_from=None,
            is_test=True,
        )
    ],
    "group": [
        good_event(),
        good_event(alert_id="acme-2026/queue-cap", objective="queue-cap", clock="queue", rule="threshold"),
    ],
}


def payload(form, language, which):
    """One request as a person can read it."""
    request = FORMATS[form].compose(outgoing(form, EVENTS[which], language=language))
    return {"url": request.url.reveal(), "headers": dict(request.headers), "body": json.loads(request.body)}


def cases():
    return [
        (form, language, which)
        for form in FORMATS
        for language in ("en", "zh")
        for which in EVENTS
        if which != "group" or FORMATS[form].takes_groups
    ]


def text_of(form, language):
    payloads = {
        which: payload(form, language, which) for f, lang, which in cases() if (f, lang) == (form, language)
    }
    return json.dumps(payloads, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for form in FORMATS:
        for language in ("en", "zh"):
            (FOLDER / f"{form}.{language}.json").write_text(text_of(form, language), encoding="utf-8")
