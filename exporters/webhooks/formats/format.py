"""Own what every wire format has in common: what goes in, what comes out, what an answer means."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from exporters.webhooks.text import plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from exporters.webhooks.credentials import Secret
    from exporters.webhooks.event import AlertEvent
    from exporters.webhooks.posting import Request, Response
    from exporters.webhooks.rendering import Text

JSON_TYPE = "application/json; charset=utf-8"
_OK, _REDIRECTS, _CLIENT_ERRORS = 200, 300, 400
_REFUSED = frozenset({400, 413, 414, 415, 422})
_SAID_CHARACTERS = 200


class Outcome(StrEnum):
    """What became of an attempt."""

    TAKEN = "taken"
    LATER = "later"
    REFUSED = "refused"  # this message, and it will be refused again


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What an answer means; `problem` is a sentence without an address or a secret in it."""

    outcome: Outcome
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """One attempt to send one message. `message_id` and the events are those of every attempt, `delivery_id` is not."""

    url: Secret
    secret: Secret | None
    destination: str
    message_id: str
    delivery_id: str
    events: tuple[AlertEvent, ...]
    text: Text
    language: str
    link: str | None
    now: datetime
    runbooks: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A service: how names are made harmless for it, whether it takes several events at once, and its two functions.

    `is_stateful` tells of a service that keeps an alert open until it is resolved.
    """

    escape: Callable[[object], str]
    takes_groups: bool
    is_stateful: bool
    compose: Callable[[Outgoing], Request]
    judge: Callable[[Response], Verdict]


def json_bytes(tree: Any) -> bytes:
    """Return `tree` as JSON in UTF-8; what is no Unicode becomes a question mark."""
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def by_status(response: Response) -> Verdict:
    """Return what an answer means by its status alone."""
    status = response.status
    if not status:
        return Verdict(outcome=Outcome.LATER, problem=response.problem)
    if _OK <= status < _REDIRECTS:
        return Verdict(outcome=Outcome.TAKEN)
    if _REDIRECTS <= status < _CLIENT_ERRORS:
        problem = f"HTTP {status}: it redirects, and that is not followed; correct the address"
        return Verdict(outcome=Outcome.LATER, problem=problem)
    outcome = Outcome.REFUSED if status in _REFUSED else Outcome.LATER
    return Verdict(outcome=outcome, problem=f"HTTP {status}")


def by_code(response: Response, *names: str) -> Verdict:
    """Return what an answer means that says 200 to everything and has the truth in a JSON number, 0 for taken."""
    verdict = by_status(response)
    if verdict.outcome is not Outcome.TAKEN:
        return verdict
    try:
        tree = json.loads(response.body)
        code = next(tree[name] for name in names if name in tree)
    except (ValueError, TypeError, StopIteration):
        return Verdict(outcome=Outcome.LATER, problem="it does not answer as that service does")
    if code == 0:
        return verdict
    return Verdict(
        outcome=Outcome.LATER, problem=plain(f"it answers with the code {code}")[:_SAID_CHARACTERS]
    )
