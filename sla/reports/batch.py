"""Own the drawing of many reports at once: processes that only draw, few reports in memory, one failure no other's.

Whoever asks reads the store and hands in one report after the other; here they are drawn as fast as there are
processes. A process that dies (killed for its memory) takes down no report but its own, and leaves no half of one:
processes write into a folder of the run, and only what is whole is moved out of it.
"""

from __future__ import annotations

import os
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from fairclock.documents.files import folder_for_halves, put_in_place
from fairclock.errors import DocumentError, FairclockError
from sla.reports import write_reports

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from sla.reports.appearance import Appearance

_WAITING_FOR_EACH = 1
"""Reports that wait behind each process: enough to keep it busy, few enough to stay small."""

_DRAWN_BY_ONE = 200
"""After so many a process makes room for a fresh one: what libraries keep does not add up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """How reports are written: forms, languages, folder, face."""

    formats: Sequence[str]
    languages: Sequence[str]
    directory: Path
    appearance: Appearance | None = None

    def write(self, report: Mapping[str, Any]) -> list[Path]:
        """Write one report and return the paths."""
        return write_reports(
            report,
            formats=self.formats,
            languages=self.languages,
            directory=self.directory,
            appearance=self.appearance,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What became of one report: its files, or why there are none."""

    key: int
    paths: Sequence[Path] = ()
    error: FairclockError | None = None


@dataclass(slots=True, kw_only=True)
class Batch:
    """Processes that draw; `tell` is called with each report's end, in the order in which they end."""

    drawing: Drawing
    jobs: int
    tell: Callable[[Drawn], None]
    _halves: AbstractContextManager[Path] = field(init=False)
    _beside: Drawing = field(init=False)
    _pool: ProcessPoolExecutor | None = None
    _drawn: dict[Future[list[Path]], tuple[int, Mapping[str, Any]]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        """Return it; processes start with the first report. Raises DocumentError where nothing can be written."""
        self._halves = folder_for_halves(self.drawing.directory)
        self._beside = replace(self.drawing, directory=self._halves.__enter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for what is being drawn; after an error only for what has begun."""
        try:
            while kind is None and self._drawn:
                self._collect()
        finally:
            self._close()
            self._halves.__exit__(kind, error, trace)

    def draw(self, key: int, report: Mapping[str, Any]) -> None:
        """Hand in a report; waits while as many are being drawn as may be in memory."""
        while len(self._drawn) >= self.jobs * (1 + _WAITING_FOR_EACH):
            self._collect()
        try:
            self._submit(key, report)
        except BrokenProcessPool:
            self._mend()
            self._submit(key, report)

    def _submit(self, key: int, report: Mapping[str, Any]) -> None:
        if self._pool is None:
            self._pool = _processes(self.jobs)
        self._drawn[self._pool.submit(self._beside.write, report)] = (key, report)

    def _collect(self) -> None:
        done, _ = wait(self._drawn, return_when=FIRST_COMPLETED)
        for each in done:
            if isinstance(each.exception(), BrokenProcessPool):
                self._mend()
                return
            self.tell(self._ended(self._drawn.pop(each)[0], each))

    def _mend(self) -> None:
        """Draw what a process took down with it again, each alone: then only the one at fault fails."""
        self._close()
        suspects, self._drawn = self._drawn, {}
        for future, (key, report) in suspects.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                self.tell(self._ended(key, future))
                continue
            with _processes(1) as alone:
                again = alone.submit(self._beside.write, report)
                wait([again])
            self.tell(self._ended(key, again))

    def _close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def _ended(self, key: int, future: Future[list[Path]]) -> Drawn:
        error = future.exception()
        if error is not None:
            return Drawn(key=key, error=_told(error))
        try:
            return Drawn(
                key=key, paths=[put_in_place(each, self.drawing.directory) for each in future.result()]
            )
        except FairclockError as refused:
            return Drawn(key=key, error=refused)


def usual_jobs() -> int:
    """Return how many processes draw where nobody says: one a core that may be used."""
    return max(len(os.sched_getaffinity(0)), 1)


def _processes(count: int) -> ProcessPoolExecutor:
    # spawned: a fork would copy the store's engine and its threads
    return ProcessPoolExecutor(
        max_workers=count, mp_context=get_context("spawn"), max_tasks_per_child=_DRAWN_BY_ONE
    )


def _told(error: BaseException) -> FairclockError:
    if isinstance(error, FairclockError):
        return error
    if isinstance(error, BrokenProcessPool):
        return DocumentError(
            "report", "the process that drew it was ended", remedy="check the machine's memory; try --jobs 1"
        )
    return DocumentError(
        "report",
        "it could not be drawn",
        found=f"{type(error).__name__}: {error}"[:200],
        remedy="this is a fault: please report it with the contract and month",
    )
