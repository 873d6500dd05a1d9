"""Own the frame: raw bytes from one place in one source, on their way to the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FrameKind = Literal["gateway", "engine", "sample", "gpu"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Some bytes as they came, with where they came from and what their delivery covers.

    kind: what its rows become.
    format: which adapter makes canonical lines of it: "nginx-json", "otlp-protobuf", "otlp-json".
    source: the logical source, for example "gateway".
    generation: a file's generation or a stream's id; equal lines are counted within it.
    offset: where in the generation the payload's first byte stands, in bytes.
    payload: complete lines (many, up to about 256 KiB), the body of one OTLP request, or one scrape.
    repeats: (line index, k) for each line that is the k-th repeat (k >= 1) of its bytes in the generation.
    covered: event time [from, to), µs since 1970, that the source is read through once this is delivered.
    """

    kind: FrameKind
    format: str
    source: str
    generation: str
    offset: int
    payload: bytes
    repeats: tuple[tuple[int, int], ...] = ()
    covered: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        """Refuse a negative offset and an interval that ends before it starts."""
        if self.offset < 0:
            raise ValueError(f"a frame cannot begin before its generation (offset {self.offset})")
        if self.covered is not None and self.covered[1] < self.covered[0]:
            raise ValueError(f"a frame cannot cover {self.covered}: the end is before the start")
