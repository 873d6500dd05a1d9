"""Own the answer to a scrape: what was rendered aside, figures of the moment, and those of this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

from exporters.prometheus.formats import Format
from exporters.prometheus.rendering import END, Renderer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exporters.prometheus.rendering import Published


def exposition(
    figures: Iterable[Published], *, format_: Format = Format.PLAIN, rendered: bytes = b""
) -> bytes:
    """Return `rendered`, then `figures`, and those of this process (memory, CPU, open files), as one text.

    No name may be in two of them.
    """
    body = rendered + Renderer(format_).render(figures) + _of_this_process(format_)
    return body + END if format_ is Format.OPENMETRICS else body


def _of_this_process(format_: Format) -> bytes:
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    if format_ is Format.PLAIN:
        return generate_latest(registry)
    text: bytes = generate_openmetrics(registry)  # type: ignore[no-untyped-call]
    return text.removesuffix(END)
