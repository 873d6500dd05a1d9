"""Own how a frame with a scrape becomes batches for the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collectors.vllm_metrics.frames import decode
from collectors.vllm_metrics.lines import lines_of
from fairclock.store import LineBatch

if TYPE_CHECKING:
    from fairclock.model import Frame


def lines_of_scrape(frame: Frame) -> list[LineBatch]:
    """Return the values and the histograms of a scrape. Raises `ValueError` or `KeyError` where it holds none."""
    lines = lines_of(decode(frame.payload))
    batches = (
        LineBatch(
            kind="sample", source=frame.source, lines=[each.text for each in (*lines.samples, *lines.bad)]
        ),
        LineBatch(kind="histogram", source=frame.source, lines=[each.text for each in lines.histograms]),
    )
    return [batch for batch in batches if batch.lines]
