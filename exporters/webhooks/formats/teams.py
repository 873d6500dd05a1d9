"""Own messages to Microsoft Teams: an adaptive card of text runs, which know no Markdown and no mentions."""

from __future__ import annotations

from typing import Any

from exporters.webhooks.formats.format import JSON_TYPE, Format, Outgoing, by_status, json_bytes
from exporters.webhooks.posting import Request
from exporters.webhooks.text import cut_bytes, plain

_LARGEST_BYTES = 24_000
"""Teams refuses messages over 28 KB; the card around the text, and escapes, take some of it."""
_TITLE_BYTES = 500


def compose(outgoing: Outgoing) -> Request:
    """Return the request: a title, and the lines of each event."""
    text = outgoing.text
    body = [
        _lines(cut_bytes(text.title, _TITLE_BYTES), weight="Bolder", size="Large"),
        *(
            _lines(line, weight="Default", size="Default")
            for line in text.within(_share(text.whole)).split("\n")
            if line
        ),
    ]
    card: dict[str, Any] = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
    }
    message = {
        "type": "message",
        "attachments": [
            {
                "contentType": "application/vnd.microsoft.card.adaptive",
                "contentUrl": None,
                "content": card,
            }
        ],
    }
    return Request(url=outgoing.url, body=json_bytes(message), headers={"Content-Type": JSON_TYPE})


def _share(text: str) -> int:
    """Return how many bytes of `text` fit when each of its lines brings the card's own 130 bytes."""
    around = 130 * (text.count("\n") + 1)
    return max(_LARGEST_BYTES * len(text.encode()) // (len(text.encode()) + around + 1), 100)


def _lines(text: str, *, weight: str, size: str) -> dict[str, Any]:
    run = {"type": "TextRun", "text": text, "weight": weight, "size": size}
    return {"type": "RichTextBlock", "spacing": "None", "inlines": [run]}


FORMAT = Format(escape=plain, takes_groups=True, is_stateful=False, compose=compose, judge=by_status)
