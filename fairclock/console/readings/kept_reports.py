"""Own reports that were evaluated lately, so that a page which is asked for every few seconds costs one evaluation."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any

from sla.evaluation import evaluate
from sla.revisions import with_revision

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.store import Store
    from sla.contracts import Contract

FRESH = timedelta(seconds=30)
"""How old a report of a month may be; it says its ``as_of``, so an older one claims no more than it knows."""
_MOST = 64


@dataclass(slots=True)
class _Slot:
    guard: Lock = field(default_factory=Lock)
    as_of: datetime | None = None
    report: dict[str, Any] | None = None


class KeptReports:
    """The content of ``report.json`` by contract, its versions, and month; the last `_MOST` of them."""

    def __init__(self, *, software_version: str) -> None:
        self._software_version = software_version
        self._guard = Lock()
        self._slots: OrderedDict[tuple[str, tuple[str, ...], str], _Slot] = OrderedDict()

    def report(
        self, store: Store, versions: Sequence[Contract], month: str, as_of: datetime
    ) -> dict[str, Any]:
        """Return the report of a month as it was known at `as_of`, or a little before. Raises NotEvaluable."""
        slot = self._slot((versions[0].id, tuple(each.version_sha256 for each in versions), month))
        with slot.guard:
            age = None if slot.as_of is None else as_of - slot.as_of
            if slot.report is None or age is None or not timedelta() <= age < FRESH:
                found = evaluate(
                    store, list(versions), month=month, as_of=as_of, software_version=self._software_version
                )
                slot.report, slot.as_of = with_revision(store, found), as_of
            return slot.report

    def _slot(self, key: tuple[str, tuple[str, ...], str]) -> _Slot:
        with self._guard:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            while len(self._slots) > _MOST:
                self._slots.popitem(last=False)
            return slot
