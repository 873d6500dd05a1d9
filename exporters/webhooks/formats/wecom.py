"""Own messages to WeCom's group robots: plain text to nobody in particular."""

from __future__ import annotations

from exporters.webhooks.formats.format import JSON_TYPE, Format, Outgoing, Verdict, by_code, json_bytes
from exporters.webhooks.posting import Request, Response
from exporters.webhooks.text import cut_bytes, without_mentions

_TITLE_BYTES = 500
_LARGEST_BYTES = 2_048


def compose(outgoing: Outgoing) -> Request:
    """Return the request."""
    title = cut_bytes(outgoing.text.title, _TITLE_BYTES)
    text = f"{title}\n{outgoing.text.within(_LARGEST_BYTES - len(title.encode()) - 1)}"
    body = {"msgtype": "text", "text": {"content": text, "mentioned_list": [], "mentioned_mobile_list": []}}
    return Request(url=outgoing.url, body=json_bytes(body), headers={"Content-Type": JSON_TYPE})


def judge(response: Response) -> Verdict:
    """Return what WeCom's ``errcode`` means."""
    return by_code(response, "errcode")


FORMAT = Format(escape=without_mentions, takes_groups=True, is_stateful=False, compose=compose, judge=judge)
