"""Own one delivery to ``fairclock up``: the request, and what its answer means for whoever sent it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import httpx

from exporters.forwarding.batches import MEDIA_TYPE, PATH
from fairclock.config import credentials
from fairclock.config.credentials import trust_in
from fairclock.errors import ConfigurationError
from fairclock.model.failures import words_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 60.0
_KEEP_ALIVE_SECONDS = 30.0  # shorter than servers keep a connection
_LONGEST_WAIT_SECONDS = 300.0
_TOKEN_REMEDY = "make another with fairclock tokens create --scope collector"  # noqa: S105 - advice, no token


class Outcome(StrEnum):
    """What became of a delivery."""

    TAKEN = "taken"
    LATER = "later"  # away, full or overloaded: it passes
    UNAUTHORISED = "unauthorised"  # nothing goes through until somebody sees to the token
    TOO_LARGE = "too_large"
    MISUNDERSTOOD = "misunderstood"  # what answers there is no Fairclock, or one of another age


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What became of a delivery; `problem` is a sentence, `wait_seconds` what the other side asked for."""

    outcome: Outcome
    problem: str = ""
    wait_seconds: float | None = None


class Destination:
    """Deliver batches to one address; `token` is asked before each.

    Raises `ConfigurationError` where the certificates of `ca` cannot be used.
    """

    def __init__(
        self,
        url: str,
        *,
        token: Callable[[], str],
        ca: Path | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Open nothing yet; `transport` stands for the network in tests."""
        self.url = url
        self._token = token
        self._client = httpx.Client(
            verify=True if ca is None else trust_in(ca, remedy="name a PEM file with --ca"),
            timeout=httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS),
            limits=httpx.Limits(
                max_connections=1, max_keepalive_connections=1, keepalive_expiry=_KEEP_ALIVE_SECONDS
            ),
            follow_redirects=False,  # the token is for this address and no other
            transport=transport,
        )

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def deliver(self, body: bytes, *, frames: int) -> Answer:
        """Send a body with so many frames and say what became of it; never raises for the network's sake."""
        try:
            headers = {"Authorization": f"Bearer {self._token()}", "Content-Type": MEDIA_TYPE}
            response = self._client.post(self.url + PATH, content=body, headers=headers)
        except ConfigurationError as error:
            return Answer(outcome=Outcome.UNAUTHORISED, problem=str(error))
        except httpx.HTTPError as error:
            return Answer(outcome=Outcome.LATER, problem=words_of(error))
        return _meaning(response, frames)


def _meaning(response: httpx.Response, frames: int) -> Answer:
    status = response.status_code
    said = f"HTTP {status}{_excerpt(response)}"
    if status == httpx.codes.OK:
        if _confirmed(response) == frames:
            return Answer(outcome=Outcome.TAKEN)
        return Answer(outcome=Outcome.MISUNDERSTOOD, problem=f"it does not answer as Fairclock does ({said})")
    if status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        return Answer(outcome=Outcome.UNAUTHORISED, problem=f"the token is refused ({said}); {_TOKEN_REMEDY}")
    if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
        return Answer(outcome=Outcome.TOO_LARGE, problem=f"the batch is too large ({said})")
    if status == httpx.codes.TOO_MANY_REQUESTS or status >= httpx.codes.INTERNAL_SERVER_ERROR:
        return Answer(outcome=Outcome.LATER, problem=said, wait_seconds=_asked_seconds(response))
    return Answer(outcome=Outcome.MISUNDERSTOOD, problem=f"it does not take frames of this kind ({said})")


def _confirmed(response: httpx.Response) -> int | None:
    try:
        count = response.json()["frames"]
    except (ValueError, KeyError, TypeError):
        return None
    return count if isinstance(count, int) else None


def _asked_seconds(response: httpx.Response) -> float | None:
    text = response.headers.get("Retry-After", "")
    return min(float(text), _LONGEST_WAIT_SECONDS) if text.isascii() and text.isdigit() else None


def _excerpt(response: httpx.Response) -> str:
    try:
        text = str(response.json()["problem"])
    except (ValueError, KeyError, TypeError):
        return ""
    return f": {text[:300]}"


def read_token(path: Path) -> str:
    """Return the token in a file; raises `ConfigurationError`."""
    return credentials.read_token(path, if_unreadable="correct --token-file", if_empty=_TOKEN_REMEDY)
