"""Own messages to DingTalk's robots: plain text to nobody in particular, signed with the time in milliseconds."""

from __future__ import annotations

import base64
import hashlib
import hmac
from urllib.parse import quote_plus

from exporters.webhooks.credentials import Secret
from exporters.webhooks.formats.format import JSON_TYPE, Format, Outgoing, Verdict, by_code, json_bytes
from exporters.webhooks.posting import Request, Response
from exporters.webhooks.text import cut_bytes, without_mentions

_TITLE_BYTES = 500
_LARGEST_BYTES = 18_000
"""DingTalk refuses requests over 20,000 bytes."""


def compose(outgoing: Outgoing) -> Request:
    """Return the request; the signature goes into the address."""
    title = cut_bytes(outgoing.text.title, _TITLE_BYTES)
    text = f"{title}\n{outgoing.text.within(_LARGEST_BYTES - len(title.encode()) - 1)}"
    body = json_bytes(
        {
            "msgtype": "text",
            "text": {"content": text},
            "at": {"atMobiles": [], "atUserIds": [], "isAtAll": False},
        }
    )
    url = outgoing.url.reveal()
    if outgoing.secret is not None:
        timestamp_ms = str(int(outgoing.now.timestamp() * 1_000))
        separator = "&" if "?" in url else "?"
        sign = quote_plus(signature(outgoing.secret, timestamp_ms))
        url = f"{url}{separator}timestamp={timestamp_ms}&sign={sign}"
    return Request(url=Secret(url), body=body, headers={"Content-Type": JSON_TYPE})


def signature(secret: Secret, timestamp_ms: str) -> str:
    r"""Return DingTalk's signature: the HMAC-SHA256 by the secret over ``timestamp\nsecret``, in Base64."""
    text = secret.reveal()
    digest = hmac.new(text.encode(), f"{timestamp_ms}\n{text}".encode(), hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def judge(response: Response) -> Verdict:
    """Return what DingTalk's ``errcode`` means."""
    return by_code(response, "errcode")


FORMAT = Format(escape=without_mentions, takes_groups=True, is_stateful=False, compose=compose, judge=judge)
