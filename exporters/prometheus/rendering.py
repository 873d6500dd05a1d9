"""Own how figures become text: what prometheus_client writes, byte for byte, without writing again what did not change.

A thousand tenants are some hundred thousand lines. Written through the library's samples they take most of a second; so a
figure keeps the lines it was last written as, and only one that is another is written anew. It is known by being the same
object: a key of name and labels for each would be some hundred thousand tuples, which the garbage collector then walks while
every scrape waits for it.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from prometheus_client.utils import floatToGoString

from exporters.prometheus.figures import Figure, HistogramFigure
from exporters.prometheus.formats import Format

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Published = Figure | HistogramFigure
END = b"# EOF\n"
_SHORTEST_WITH_EXPONENT = 1_000_000
_LE = 'le="'


class Renderer:
    """Writes figures in one format, and remembers the lines of each until it writes without it."""

    def __init__(self, format_: Format) -> None:
        self._format = format_
        self._lines: dict[int, str] = {}
        self._figures: Sequence[Published] = ()

    def render(self, figures: Iterable[Published]) -> bytes:
        """Return the text of `figures`, those of one name together; without the end that OpenMetrics asks for."""
        kept = list(figures)
        families: dict[str, list[str]] = {}
        written: dict[int, str] = {}
        for figure in kept:
            lines = families.get(figure.name)
            if lines is None:
                lines = families[figure.name] = [_head(figure, self._format)]
            known = self._lines.get(id(figure))
            if known is None:
                known = _lines(figure, self._format)
            written[id(figure)] = known
            lines.append(known)
        # as long as a figure is kept no other has its id
        self._figures, self._lines = kept, written
        return "".join(["".join(lines) for lines in families.values()]).encode()


def place_of_exemplar(figure: HistogramFigure) -> int | None:
    """Return which of the counts the exemplar belongs to; None where there is none."""
    if figure.exemplar is None:
        return None
    return bisect_left(figure.edges, figure.exemplar.value)


def _head(figure: Published, format_: Format) -> str:
    about = figure.about.replace("\\", r"\\").replace("\n", r"\n")
    name = figure.name
    if format_ is Format.OPENMETRICS:
        about = about.replace('"', r"\"")
    elif figure.kind == "counter":
        name += "_total"
    return f"# HELP {name} {about}\n# TYPE {name} {figure.kind}\n"


def _lines(figure: Published, format_: Format) -> str:
    labels = _labels(figure.labels)
    inside = f"{{{','.join(labels)}}}" if labels else ""
    if isinstance(figure, Figure):
        suffix = "_total" if figure.kind == "counter" else ""
        return f"{figure.name}{suffix}{inside} {_number(figure.value)}\n"
    # labels are in alphabetical order, and so `le` is somewhere among them
    before = "".join([f"{each}," for each in labels if each < _LE])
    after = "".join([f",{each}" for each in labels if each > _LE])
    begin, end = f'{figure.name}_bucket{{{before}le="', f'"{after}}} '
    count = figure.counts[-1]
    if count < _SHORTEST_WITH_EXPONENT:
        pairs = zip(_edges(figure.edges), figure.counts, strict=True)
        buckets = [f"{begin}{edge}{end}{number}.0\n" for edge, number in pairs]
    else:
        pairs = zip(_edges(figure.edges), figure.counts, strict=True)
        buckets = [f"{begin}{edge}{end}{_number(number)}\n" for edge, number in pairs]
    place = place_of_exemplar(figure)
    if format_ is Format.OPENMETRICS and place is not None and figure.exemplar is not None:
        found = figure.exemplar
        seen = f'{{trace_id="{found.trace_id}"}} {_number(found.value)} {found.at_seconds}'
        buckets[place] = f"{buckets[place][:-1]} # {seen}\n"
    buckets.append(f"{figure.name}_count{inside} {_number(count)}\n")
    buckets.append(f"{figure.name}_sum{inside} {_number(figure.total)}\n")
    return "".join(buckets)


def _number(value: float) -> str:
    text: str = floatToGoString(value)  # type: ignore[no-untyped-call]
    return text


_EDGES: dict[tuple[float, ...], tuple[str, ...]] = {}
_MOST_EDGES = 256


def _edges(edges: tuple[float, ...]) -> tuple[str, ...]:
    known = _EDGES.get(edges)
    if known is None:
        if len(_EDGES) >= _MOST_EDGES:
            _EDGES.clear()
        known = _EDGES[edges] = (*map(_number, edges), "+Inf")
    return known


def _labels(labels: Mapping[str, str]) -> list[str]:
    """Return labels as they are written, in alphabetical order."""
    return [
        '{}="{}"'.format(name, value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\""))
        for name, value in sorted(labels.items())
    ]
