"""Own how a series is named: its engine and model told apart from its other labels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from collectors.vllm_metrics.readings import Series

if TYPE_CHECKING:
    from collections.abc import Mapping

    from collectors.vllm_metrics.exposition import Labels, Number
    from collectors.vllm_metrics.vocabulary import Naming

_ENGINE, _MODEL = "engine", "model_name"
_ONLY_ENGINE = "0"
_US_PER_SECOND = 1_000_000
_LAST_SECOND = 253_402_300_800  # the year 10000


def series_of(name: str, naming: Naming, labels: Labels, target_labels: Mapping[str, str]) -> Series:
    """Return the series of `labels` under the name `name`.

    Where a series that belongs to one engine does not say to which, there is one engine, and vLLM calls that 0.
    """
    if target_labels:
        labels = tuple(sorted({**target_labels, **dict(labels)}.items()))
    if not naming.is_vllm:
        return Series(name=name, labels=labels)
    engine = _ONLY_ENGINE if naming.family is not None and naming.family.per_engine else ""
    model, others = "", []
    for pair in labels:
        if pair[0] == _ENGINE:
            engine = pair[1]
        elif pair[0] == _MODEL:
            model = pair[1]
        else:
            others.append(pair)
    return Series(name=name, engine=engine, model=model, labels=tuple(others))


def instant_us_of(seconds: Number | None) -> int | None:
    """Return an instant that is a series' value, seconds since 1970, in µs; None where it is none."""
    if seconds is None or not math.isfinite(seconds) or not 0 < seconds < _LAST_SECOND:
        return None
    return round(seconds * _US_PER_SECOND)
