"""Own messages to the robots of Feishu and Lark: posts of text, in which nobody is mentioned, signed with the time."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import TYPE_CHECKING, Any

from exporters.webhooks.formats.format import JSON_TYPE, Format, Outgoing, Verdict, by_code, json_bytes
from exporters.webhooks.posting import Request, Response
from exporters.webhooks.text import cut, without_mentions

if TYPE_CHECKING:
    from exporters.webhooks.credentials import Secret

_LARGEST_BYTES = 12_000
"""Feishu refuses requests over 20 KB, the frames around each line included."""
_TITLE_CHARACTERS = 200
_LANGUAGES = {"en": "en_us", "zh": "zh_cn"}


def compose(outgoing: Outgoing) -> Request:
    """Return the request; the signature goes into the body."""
    lines = outgoing.text.within(_LARGEST_BYTES).split("\n")
    post = {
        "title": cut(outgoing.text.title, _TITLE_CHARACTERS),
        "content": [[{"tag": "text", "text": line}] for line in lines if line],
    }
    tree: dict[str, Any] = {
        "msg_type": "post",
        "content": {"post": {_LANGUAGES[outgoing.language]: post}},
    }
    if outgoing.secret is not None:
        timestamp = str(int(outgoing.now.timestamp()))
        tree = {"timestamp": timestamp, "sign": signature(outgoing.secret, timestamp), **tree}
    return Request(url=outgoing.url, body=json_bytes(tree), headers={"Content-Type": JSON_TYPE})


def signature(secret: Secret, timestamp: str) -> str:
    r"""Return Feishu's signature: the HMAC-SHA256 by ``timestamp\nsecret`` over nothing, in Base64."""
    key = f"{timestamp}\n{secret.reveal()}".encode()
    return base64.b64encode(hmac.new(key, b"", hashlib.sha256).digest()).decode()


def judge(response: Response) -> Verdict:
    """Return what Feishu's ``code`` means; older robots call it ``StatusCode``."""
    return by_code(response, "code", "StatusCode")


FORMAT = Format(escape=without_mentions, takes_groups=True, is_stateful=False, compose=compose, judge=judge)
