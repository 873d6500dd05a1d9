"""Own when ``up`` evaluates months that are over: an hour after their end, and again when late rows have settled."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from exporters.prometheus import Figure
from fairclock.cli.evaluating import by_contract, keep_month
from sla.revisions import Looked, due_months

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairclock.cli.pipeline.evaluator import SlicesStep
    from fairclock.store import Store
    from sla.revisions import DueMonth

_LOG = logging.getLogger(__name__)
_LOOK_EVERY = timedelta(minutes=1)
_SETTLED_AFTER = timedelta(hours=1)
_AGAIN_AFTER = timedelta(minutes=10)

_Key = tuple[str, str]


@dataclass(slots=True)
class RevisionsStep:
    """Keep months as revisions, at most one a pass, so that alerts do not wait for them."""

    _store: Callable[[], Store]
    _slices: SlicesStep
    _looked: dict[_Key, Looked] = field(default_factory=dict)
    _looked_at: datetime | None = None
    _due: list[DueMonth] = field(default_factory=list)
    _tried_at: dict[_Key, datetime] = field(default_factory=dict)
    _revisions: dict[_Key, int] = field(default_factory=dict)

    def step(self, now: datetime) -> None:
        """Look for months that rest on something new every minute, and evaluate the next one that may be."""
        counted = self._slices.counted
        if counted is None:
            return
        store = self._store()
        if self._looked_at is None or not timedelta() <= now - self._looked_at < _LOOK_EVERY:
            self._due = due_months(store, by_contract(counted.versions), counted.as_of, self._looked)
            self._looked_at = now
        due = next((each for each in self._due if self._may_be(each, now)), None)
        if due is None:
            return
        # noted before it is tried, so that a month that cannot be evaluated does not hold up the others
        self._tried_at[due.key] = now
        self._due.remove(due)
        kept = keep_month(store, due, counted.as_of)
        self._looked[due.key] = Looked(as_of=counted.as_of, inputs=due.inputs)
        self._revisions[due.key] = kept.revision
        if kept.is_new:
            _LOG.info("%s %s: revision %d", kept.contract, kept.month, kept.revision)

    def figures(self) -> Iterator[Figure]:
        """Yield the revision of each month that was evaluated since the start."""
        for (contract, month), revision in list(self._revisions.items()):
            yield Figure(
                name="fairclock_contract_revision", about="Latest revision of a contract's month.",
                value=revision, labels={"contract": contract, "month": month},
            )  # fmt: skip

    def _may_be(self, due: DueMonth, now: datetime) -> bool:
        tried = self._tried_at.get(due.key)
        return now >= due.period.end + _SETTLED_AFTER and (tried is None or now - tried >= _AGAIN_AFTER)
