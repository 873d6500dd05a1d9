"""Own the delivery of one gathering: what is done, what is still to do, and what will never be.

A batch that the server will never take is halved until the row to blame stands alone and becomes a dead letter;
all others are stored. Where it is unclear whether a row is to blame, that is decided after some tries, and only
if the server takes other rows of the same kind meanwhile: a server that takes none is sick, and rows wait for it.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exporters.clickhouse.batches import LARGEST_BATCH_ROWS
from exporters.clickhouse.verdicts import TOO_MUCH_MEMORY, Verdict, code_of, name_of, verdict_of
from fairclock.model import merge
from fairclock.store import IngestCounts, LineBatch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exporters.clickhouse.batches import Gathering, RowStore
    from fairclock.model import Interval
    from fairclock.store import Kind

_LOG = logging.getLogger(__name__)
_TRIES_UNTIL_SUSPECT = 5
_TRIES_OF_A_ROW = 2
_ROWS_TRIED_ALONE = 8
_SMALLEST_HALVED_FOR_MEMORY = 1_000


@dataclass(slots=True, kw_only=True)
class _Task:
    batch: LineBatch
    tries: int = 0
    handed_over: bool = False
    suspect: bool = False
    halved: bool = False
    reason: str = ""

    @property
    def is_one_row(self) -> bool:
        return len(self.batch.lines) == 1

    def halves(self, *, suspect: bool) -> list[_Task]:
        lines, half = self.batch.lines, len(self.batch.lines) // 2
        return [
            _Task(
                batch=LineBatch(kind=self.batch.kind, source=self.batch.source, lines=part, k=self.batch.k),
                suspect=suspect,
                halved=True,
            )
            for part in (lines[:half], lines[half:])
        ]


@dataclass(frozen=True, slots=True)
class _Findings:
    """What one run showed: kinds of which rows were taken, and how many rows were refused that stood alone."""

    taken: set[Kind] = field(default_factory=set)
    refused_alone: Counter[Kind] = field(default_factory=Counter)


class Delivery:
    """The batches of one gathering; `run` until it returns."""

    def __init__(self) -> None:
        self._tasks: deque[_Task] = deque()
        self._unreadable: deque[tuple[LineBatch, str]] = deque()
        self._covered: deque[tuple[tuple[Kind, str], list[Interval]]] = deque()
        self._counts: dict[tuple[Kind, str], IngestCounts] = {}
        self._refused: Counter[str] = Counter()
        self._inserts = 0
        self.size_bytes = 0

    @property
    def waiting_rows(self) -> int:
        """Return how many rows are still to be delivered."""
        return sum(len(task.batch.lines) for task in self._tasks)

    def take_figures(self) -> tuple[dict[tuple[Kind, str], IngestCounts], Counter[str], int]:
        """Return what was done since the last call: counts by kind and source, refused rows by reason, inserts."""
        figures = self._counts, self._refused, self._inserts
        self._counts, self._refused, self._inserts = {}, Counter(), 0
        return figures

    def add(self, gathering: Gathering, *, size_bytes: int) -> None:
        """Deliver this, too; all that was gathered is `size_bytes` now."""
        self.size_bytes = size_bytes
        self._tasks.extend(_Task(batch=batch) for batch in gathering.batches())
        self._tasks = deque(_put_together(self._tasks))
        self._unreadable.extend(gathering.unreadable)
        covered = dict(self._covered)
        for key, intervals in gathering.covered().items():
            covered[key] = merge([*covered.get(key, []), *intervals])
        self._covered = deque(covered.items())

    def run(self, store: RowStore) -> None:
        """Deliver what is left; raises what kept it from that, and may be called again."""
        failure: Exception | None = None
        found = _Findings()
        left: list[_Task] = []
        self._tasks = deque(sorted(self._tasks, key=lambda task: task.suspect))
        while self._tasks:
            task = self._tasks.popleft()
            try:
                self._ingest(store, task.batch, found)
            except Exception as error:
                verdict = verdict_of(error)
                if verdict is Verdict.LATER:
                    task.handed_over = True
                    self._tasks.extendleft(reversed(_smaller(task, error)))
                    self._tasks.extend(left)
                    raise
                task.reason = f"refused by the store: {name_of(error)}"
                if not self._goes_on(task, verdict, found):
                    left.append(task)
                    failure = error
        self._sort_out(left, found)
        self._keep_unreadable(store)
        if self._tasks and failure is not None:
            raise failure
        self._cover(store)

    def _ingest(self, store: RowStore, batch: LineBatch, found: _Findings) -> None:
        self._inserts += 1
        counts = store.ingest(batch)
        key = (batch.kind, batch.source)
        self._counts[key] = self._counts.get(key, IngestCounts()) + counts
        if counts.stored or counts.duplicates:
            found.taken.add(batch.kind)

    def _goes_on(self, task: _Task, verdict: Verdict, found: _Findings) -> bool:
        """Return whether `task` could be taken further at once; else it waits for the others."""
        task.tries += 1
        kind = task.batch.kind
        is_certain = verdict is Verdict.NEVER
        if not (is_certain or task.suspect):
            task.suspect = task.tries >= _TRIES_UNTIL_SUSPECT
            return False
        if not task.is_one_row:
            if not is_certain and kind not in found.taken and found.refused_alone[kind] >= _ROWS_TRIED_ALONE:
                return False  # as it looks, no row would be taken: more inserts tell nothing new
            self._tasks.extendleft(reversed(task.halves(suspect=not is_certain)))
        elif task.tries < _TRIES_OF_A_ROW:
            self._tasks.appendleft(task)
        elif is_certain:
            self._refuse(task)
        else:
            found.refused_alone[kind] += 1
            return False
        return True

    def _sort_out(self, left: Sequence[_Task], found: _Findings) -> None:
        """Decide about what is `left`: suspects are to blame if others were taken, else they wait, together again."""
        together: dict[tuple[Kind, str, int], list[bytes]] = {}
        for task in left:
            batch = task.batch
            if not task.suspect:
                self._tasks.append(task)
            elif batch.kind not in found.taken:
                together.setdefault((batch.kind, batch.source, batch.k), []).extend(batch.lines)
            elif task.is_one_row:
                self._refuse(task)
            else:
                self._tasks.append(task)
        for (kind, source, k), lines in together.items():
            batch = LineBatch(kind=kind, source=source, lines=lines, k=k)
            self._tasks.append(_Task(batch=batch, suspect=True))

    def _refuse(self, task: _Task) -> None:
        _LOG.error("a row of %s became a dead letter: %s", task.batch.source, task.reason)
        self._unreadable.append((task.batch, task.reason))

    def _keep_unreadable(self, store: RowStore) -> None:
        while self._unreadable:
            batch, reason = self._unreadable[0]
            store.keep_dead_letters(batch, reason=reason)
            self._unreadable.popleft()
            self._refused[reason] += len(batch.lines)

    def _cover(self, store: RowStore) -> None:
        while self._covered:
            (kind, source), intervals = self._covered[0]
            store.cover(kind=kind, source=source, intervals=intervals)
            self._covered.popleft()


def _put_together(tasks: Iterable[_Task]) -> list[_Task]:
    """Make one of tasks that belong together: what came in between failed tries would go in by handfuls else.

    What was handed over stays as it is: perhaps it is stored, and by its token the store knows it again.
    """
    kept: list[_Task] = []
    latest: dict[tuple[Kind, str, int], _Task] = {}
    for task in tasks:
        batch = task.batch
        key = (batch.kind, batch.source, batch.k)
        before = latest.get(key)
        if task.suspect or task.halved or task.handed_over:
            kept.append(task)
        elif before is not None and len(before.batch.lines) + len(batch.lines) <= LARGEST_BATCH_ROWS:
            lines = [*before.batch.lines, *batch.lines]
            before.batch = LineBatch(kind=batch.kind, source=batch.source, lines=lines, k=batch.k)
            before.tries = max(before.tries, task.tries)
        else:
            latest[key] = task
            kept.append(task)
    return kept


def _smaller(task: _Task, error: Exception) -> list[_Task]:
    """Return `task` in two where the server has no memory for all of it."""
    if code_of(error) == TOO_MUCH_MEMORY and len(task.batch.lines) > _SMALLEST_HALVED_FOR_MEMORY:
        return task.halves(suspect=task.suspect)
    return [task]
