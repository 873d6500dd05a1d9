"""Own messages to Slack's incoming webhooks: blocks of plain text, in which nothing is markup or a mention."""

from __future__ import annotations

from typing import Any

from exporters.webhooks.formats.format import JSON_TYPE, Format, Outgoing, by_status, json_bytes
from exporters.webhooks.posting import Request
from exporters.webhooks.text import cut, for_slack

_HEADER_CHARACTERS = 150
_SECTION_CHARACTERS = 3_000
_FALLBACK_CHARACTERS = 3_000


def compose(outgoing: Outgoing) -> Request:
    """Return the request: a header, and a section for each event."""
    text = outgoing.text
    blocks: list[dict[str, Any]] = [{"type": "header", "text": _plain_text(text.title, _HEADER_CHARACTERS)}]
    is_group = len(text.paragraphs) > 1
    for paragraph in text.paragraphs:
        said = f"{paragraph.title}\n{paragraph.body}" if is_group else paragraph.body
        blocks.append({"type": "section", "text": _plain_text(said, _SECTION_CHARACTERS)})
    body = {"text": cut(text.title, _FALLBACK_CHARACTERS), "mrkdwn": False, "blocks": blocks}
    return Request(url=outgoing.url, body=json_bytes(body), headers={"Content-Type": JSON_TYPE})


def _plain_text(text: str, most: int) -> dict[str, Any]:
    return {"type": "plain_text", "text": cut(text, most), "emoji": False}


FORMAT = Format(escape=for_slack, takes_groups=True, is_stateful=False, compose=compose, judge=by_status)
