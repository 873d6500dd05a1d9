"""Own the scrape on its way to the store: one frame each, a header of one JSON line before the answer as it came."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from fairclock.model import Frame

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = "metrics"
"""The format of these frames."""
_GENERATION = uuid.uuid4().hex


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrape:
    """One answer of one target, or that there was none.

    target: what tells the target from all others.
    at_us: when it was asked, µs since 1970.
    content: the body as it came, after any gzip.
    labels: what the target's list says about it; a label of a series itself wins over one of these.
    failure: why there was no answer, '' where there was one.
    took_us: how long the answer took.
    """

    target: str
    at_us: int
    content: bytes = b""
    content_type: str | None = None
    labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    failure: str = ""
    took_us: int | None = None


def frame_of(scrape: Scrape, *, source: str, covered: tuple[int, int] | None = None) -> Frame:
    """Return the frame of `scrape`; `covered` is the time since the scrape before it, µs since 1970."""
    return Frame(
        kind="sample",
        format=FORMAT,
        source=source,
        generation=f"{_GENERATION}/{scrape.target}",
        offset=max(scrape.at_us, 0),
        payload=encode(scrape),
        covered=covered,
    )


def encode(scrape: Scrape) -> bytes:
    """Return a frame's payload."""
    header = {
        "target": scrape.target,
        "at_us": scrape.at_us,
        "content_type": scrape.content_type,
        "labels": dict(scrape.labels),
        "failure": scrape.failure,
        "took_us": scrape.took_us,
    }
    return json.dumps(header).encode() + b"\n" + scrape.content


def decode(payload: bytes) -> Scrape:
    """Return the scrape in a frame's payload. Raises `ValueError` or `KeyError` where there is none."""
    header, _, content = payload.partition(b"\n")
    values = json.loads(header)
    return Scrape(
        target=values["target"],
        at_us=values["at_us"],
        content=content,
        content_type=values["content_type"],
        labels=values["labels"],
        failure=values["failure"],
        took_us=values["took_us"],
    )
