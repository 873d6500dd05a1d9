"""Own what was worked out last: rendered aside in the formats that are asked for, and handed out without waiting."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING

from exporters.prometheus.compression import Deflated, deflated
from exporters.prometheus.formats import Format
from exporters.prometheus.rendering import Renderer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from exporters.prometheus.rendering import Published

_FORGOTTEN_AFTER = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """The text of one snapshot, and where somebody takes it so: compressed as the beginning of an answer."""

    body: bytes
    compressed: Deflated | None = None


@dataclass(slots=True)
class Snapshots:
    """The newest figures; `publish` is for one thread, `text` for any.

    A format that nobody asked for in the last snapshots is not rendered; the first scrape in it waits for that once.
    """

    told: Callable[[datetime], None] = lambda _: None
    """Called before a snapshot is handed out for the first time, with as of when it is."""

    _guard: Lock = field(default_factory=Lock)
    _figures: Sequence[Published] = ()
    _at: datetime | None = None
    _texts: dict[Format, Rendered] = field(default_factory=dict)
    # what Prometheus asks for is there before it does
    _unasked: dict[Format, int] = field(default_factory=lambda: {Format.OPENMETRICS: 0})
    _renderers: dict[Format, Renderer] = field(
        default_factory=lambda: {Format.OPENMETRICS: Renderer(Format.OPENMETRICS)}
    )
    _compressed: set[Format] = field(default_factory=lambda: {Format.OPENMETRICS})
    _scraped: datetime | None = None

    @property
    def at(self) -> datetime | None:
        """Return as of when the newest figures are; None before the first."""
        return self._at

    @property
    def scraped(self) -> datetime | None:
        """Return as of when the newest figures are that somebody was told."""
        return self._scraped

    def publish(self, figures: Sequence[Published], at: datetime | None) -> None:
        """Render `figures`, as of `at`, in the formats that were asked for lately, and hand them out from now on."""
        with self._guard:
            for format_ in list(self._unasked):
                self._unasked[format_] += 1
                if self._unasked[format_] > _FORGOTTEN_AFTER:
                    del self._unasked[format_], self._renderers[format_]
                    self._compressed.discard(format_)
            renderers = dict(self._renderers)
            known, compressed = dict(self._texts), set(self._compressed)
        texts = {
            format_: _rendered(
                renderer, figures, known=known.get(format_), is_compressed=format_ in compressed
            )
            for format_, renderer in renderers.items()
        }
        with self._guard:
            self._figures, self._at, self._texts = figures, at, texts

    def text(self, format_: Format, *, compressed: bool = False) -> Rendered:
        """Return the newest figures as text, and compressed too where that is asked for."""
        with self._guard:
            self._unasked[format_] = 0
            found = self._texts.get(format_)
            if found is None:
                renderer = self._renderers[format_] = Renderer(format_)
                found = self._texts[format_] = _rendered(renderer, self._figures)
            if compressed:
                self._compressed.add(format_)
                if found.compressed is None:
                    found = self._texts[format_] = replace(found, compressed=deflated(found.body))
            if self._at is not None and self._at != self._scraped:
                self.told(self._at)
            self._scraped = self._at
            return found


def _rendered(
    renderer: Renderer,
    figures: Sequence[Published],
    *,
    known: Rendered | None = None,
    is_compressed: bool = False,
) -> Rendered:
    body = renderer.render(figures)
    if known is not None and known.body == body and (known.compressed is not None or not is_compressed):
        return known
    return Rendered(body=body, compressed=deflated(body) if is_compressed else None)
