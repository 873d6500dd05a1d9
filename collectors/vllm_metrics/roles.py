"""Own what a name is a part of: a histogram's bucket, sum or count, a time of creation, or a value of its own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from collectors.vllm_metrics.vocabulary import naming_of

if TYPE_CHECKING:
    from collectors.vllm_metrics.exposition import Exposition
    from collectors.vllm_metrics.readings import ValueKind
    from collectors.vllm_metrics.vocabulary import Naming

_BUCKET, _SUM, _COUNT, _CREATED, _TOTAL = "_bucket", "_sum", "_count", "_created", "_total"
_INFO = "_info"
_HISTOGRAMS = frozenset(["histogram", "gaugehistogram"])
_COUNTED = frozenset(["counter", "summary", *_HISTOGRAMS])


class Part(Enum):
    """What a sample is a part of."""

    BUCKET = 1
    SUM = 2
    COUNT = 3
    CREATED = 4
    VALUE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """What the samples of one name are.

    base: what they are called without the ending that says so; times of creation are found under it.
    name: of the series, in the vocabulary. kind: of a value.
    """

    part: Part
    base: str
    name: str
    naming: Naming
    kind: ValueKind = "gauge"


class Roles:
    """The roles of the names in one exposition; each is found once."""

    def __init__(self, exposition: Exposition) -> None:
        self._types = exposition.types
        self._names = {sample.name for sample in exposition.samples}
        self._histograms = {name for name, kind in self._types.items() if kind in _HISTOGRAMS}
        for sample in exposition.samples:  # a saved scrape may have lost its comments
            if sample.name.endswith(_BUCKET) and any(label == "le" for label, _ in sample.labels):
                self._histograms.add(sample.name.removesuffix(_BUCKET))
        self._found: dict[str, Role] = {}

    def of(self, name: str) -> Role:
        """Return the role of `name`."""
        role = self._found.get(name)
        if role is None:
            role = self._found[name] = self._find(name)
        return role

    def _find(self, name: str) -> Role:
        for ending, part in ((_BUCKET, Part.BUCKET), (_SUM, Part.SUM), (_COUNT, Part.COUNT)):
            base = name.removesuffix(ending)
            if base != name and base in self._histograms:
                naming = naming_of(base)
                return Role(part=part, base=base, name=naming.name, naming=naming)
        base = name.removesuffix(_CREATED)
        if base != name and self._is_counted(base):
            return Role(part=Part.CREATED, base=base, name=name, naming=naming_of(base))
        return self._value(name)

    def _is_counted(self, base: str) -> bool:
        """Return whether ``base_created`` tells since when something counts, and is no gauge of its own."""
        declared = self._types.get(base) or self._types.get(base + _TOTAL)
        return (
            base in self._histograms
            or declared in _COUNTED
            or not self._names.isdisjoint([base + _TOTAL, base + _COUNT])
        )

    def _value(self, name: str) -> Role:
        naming = naming_of(name)
        kind = self._kind(name, naming)
        base = name.removesuffix(_TOTAL)
        if kind != "counter":
            return Role(part=Part.VALUE, base=name, name=naming.name, naming=naming, kind=kind)
        for ending in (_SUM, _COUNT):
            if self._types.get(name.removesuffix(ending)) == "summary":
                base = name.removesuffix(ending)
        known = naming.name.removesuffix(_TOTAL) if naming.is_vllm else naming.name
        return Role(part=Part.VALUE, base=base, name=known, naming=naming, kind=kind)

    def _kind(self, name: str, naming: Naming) -> ValueKind:
        """Return the kind: as the vocabulary says (Ray declares counters as gauges), else as is declared, else by the name."""
        if naming.family is not None and naming.family.kind != "histogram":
            return naming.family.kind
        declared = self._types.get(name) or self._types.get(name.removesuffix(_TOTAL))
        if declared == "info" or self._types.get(name.removesuffix(_INFO)) == "info":
            return "info"
        if declared == "counter" or (declared in {None, "unknown"} and name.endswith(_TOTAL)):
            return "counter"
        is_of_summary = any(
            name.endswith(ending) and self._types.get(name.removesuffix(ending)) == "summary"
            for ending in (_SUM, _COUNT)
        )
        return "counter" if is_of_summary else "gauge"
