"""Own how many values a label has: so many have their own, first come, and the rest shares one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

OTHER = "__other__"
_LONGEST = 128
_KEPT = 111


def label_text(value: str) -> str:
    """Return `value` as a label can carry it: no text that is not Unicode, and none longer than 128 characters."""
    text = value.encode("utf-8", "replace").decode()
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_KEPT]}~{hashlib.sha256(text.encode()).hexdigest()[:16]}"


@dataclass(slots=True)
class Admitted:
    """The values that have series of their own, at most `most`; one that was admitted stays."""

    most: int
    _values: dict[str, str] = field(default_factory=dict)
    _refused: set[str] = field(default_factory=set)

    def admit(self, values: Iterable[str]) -> None:
        """Admit `values` in their order, as long as there is room."""
        for value in values:
            self.of(value)

    def of(self, value: str) -> str:
        """Return the label of `value`: its own, or `OTHER`."""
        known = self._values.get(value)
        if known is not None:
            return known
        if len(self._values) < self.most:
            label = self._values[value] = label_text(value)
            return label
        if len(self._refused) < self.most:
            self._refused.add(value)
        return OTHER

    @property
    def refused(self) -> int:
        """Return how many values share `OTHER`, as far as that was counted."""
        return len(self._refused)


@dataclass(slots=True)
class AdmittedPairs:
    """The pairs of tenant and model that have series of their own; the others share a tenant, the model or both."""

    tenants: Admitted
    models: Admitted
    most: int
    _pairs: set[tuple[str, str]] = field(default_factory=set)

    def of(self, tenant: str, model: str) -> tuple[str, str]:
        """Return the labels of a pair.

        Where there is no more room the tenant's models share `OTHER`; those of one without any room share one pair.
        """
        pair = (self.tenants.of(tenant), self.models.of(model))
        for each in (pair, (pair[0], OTHER)):
            if each in self._pairs:
                return each
            if len(self._pairs) < self.most:
                self._pairs.add(each)
                return each
        return OTHER, OTHER
