"""Own the scraping of many targets: each in its own rhythm, whatever the others do."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from dataclasses import replace
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Protocol, Self

from collectors.vllm_metrics.frames import Scrape, frame_of
from collectors.vllm_metrics.scraping.fetching import Fetcher, ScrapeFailedError
from collectors.vllm_metrics.scraping.statistics import ScraperStatistics, TargetStatistics
from fairclock.errors import SpoolError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType

    from collectors.vllm_metrics.scraping.targets import Target
    from fairclock.model import Frame

_LOG = logging.getLogger(__name__)
_NS_PER_US = 1_000
_LOOK_EVERY_SECONDS = 5.0
_US_PER_SECOND = 1_000_000


class Finder(Protocol):
    """What knows the targets."""

    async def find(self) -> Sequence[Target]:
        """Return the targets as they are now, each name once."""
        ...

    def problems(self) -> tuple[tuple[str, str], ...]:
        """Return what keeps targets from being found: (file or name, sentence)."""
        ...


class Scraper:
    """Scrape what `finder` finds, and hand a frame of each try to `deliver`, from ``with`` to its end.

    A try that came to nothing is a frame, too, so that a target's gaps can be read from its rows. `deliver` returns
    once the frame is safe; where it raises `SpoolError` or `StoreError` the answer is gone, and the next one is asked
    for at its time: counters have gone on counting meanwhile. What ends the scraper is kept in `failure`.
    """

    def __init__(
        self,
        finder: Finder,
        deliver: Callable[[Sequence[Frame]], object],
        *,
        source: str,
        fetcher: Fetcher | None = None,
        now_us: Callable[[], int] = lambda: time.time_ns() // _NS_PER_US,
        look_every_seconds: float = _LOOK_EVERY_SECONDS,
    ) -> None:
        self._finder = finder
        self._deliver = deliver
        self._source = source
        self._fetcher = fetcher or Fetcher()
        self._now_us = now_us
        self._look_every_seconds = look_every_seconds
        self._statistics: dict[str, TargetStatistics] = {}
        self._paused = ""
        self._guard = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._main: asyncio.Task[None] | None = None
        self._stopping = Event()
        self.failure: Exception | None = None
        self._thread = Thread(target=self._run, name="scraper", daemon=True)

    def __enter__(self) -> Self:
        """Start."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop; an answer that is under way is not waited for."""
        self._stopping.set()
        with self._guard:
            if self._loop is not None and self._main is not None:
                self._loop.call_soon_threadsafe(self._main.cancel)
        self._thread.join()

    @property
    def is_alive(self) -> bool:
        """Return whether targets are scraped."""
        return self.failure is None and self._thread.is_alive()

    def statistics(self) -> ScraperStatistics:
        """Return how every target is doing; any thread may ask."""
        with self._guard:
            targets = tuple(self._statistics[name] for name in sorted(self._statistics))
            return ScraperStatistics(targets=targets, problems=self._finder.problems(), paused=self._paused)

    def _run(self) -> None:
        try:
            asyncio.run(self._scrape_all())
        except asyncio.CancelledError:
            return
        except Exception as failure:  # noqa: BLE001 - raised again where the command waits
            self.failure = failure

    async def _scrape_all(self) -> None:
        tasks: dict[Target, asyncio.Task[None]] = {}
        with self._guard:
            self._loop, self._main = asyncio.get_running_loop(), asyncio.current_task()
        try:
            while not self._stopping.is_set():
                self._reconcile(tasks, await self._finder.find())
                if tasks:
                    done, _ = await asyncio.wait(
                        tasks.values(), timeout=self._look_every_seconds, return_when=asyncio.FIRST_COMPLETED
                    )
                    for task in done:
                        task.result()  # none ends by itself: this raises what ended it
                else:
                    await asyncio.sleep(self._look_every_seconds)
        finally:
            with self._guard:
                self._loop = self._main = None
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)
            await self._fetcher.close()

    def _reconcile(self, tasks: dict[Target, asyncio.Task[None]], found: Iterable[Target]) -> None:
        wanted = {target.name: target for target in found}
        with self._guard:
            for target in [each for each in tasks if wanted.get(each.name) != each]:
                tasks.pop(target).cancel()
                if target.name not in wanted:
                    self._statistics.pop(target.name, None)
            for target in wanted.values():
                if target not in tasks:
                    before = self._statistics.get(
                        target.name, TargetStatistics(name=target.name, url=target.url)
                    )
                    self._statistics[target.name] = replace(before, url=target.url)
                    tasks[target] = asyncio.create_task(self._scrape(target))

    async def _scrape(self, target: Target) -> None:
        """Scrape one target for ever, at instants that lie whole intervals apart."""
        loop = asyncio.get_running_loop()
        due = loop.time() + phase(target)
        while True:
            await asyncio.sleep(max(due - loop.time(), 0.0))
            await self._scrape_once(target, loop)
            missed = max((loop.time() - due) // target.interval_seconds, 0)
            due += (missed + 1) * target.interval_seconds

    async def _scrape_once(self, target: Target, loop: asyncio.AbstractEventLoop) -> None:
        asked_us, began = self._now_us(), loop.time()
        content, content_type, failure = b"", "", ""
        try:
            body = await self._fetcher.fetch(target)
            content, content_type = body.content, body.content_type
        except ScrapeFailedError as error:
            failure = str(error)
        seconds = loop.time() - began
        scrape = Scrape(
            target=target.name,
            at_us=asked_us,
            content=content,
            content_type=content_type or None,
            labels=target.labels,
            failure=failure,
            took_us=round(seconds * _US_PER_SECOND),
        )
        try:
            await asyncio.to_thread(self._deliver, [frame_of(scrape, source=self._source)])
        except (SpoolError, StoreError) as error:
            self._paused = str(error)
            failure = failure or f"not kept: {error}"
        else:
            self._paused = ""
        if failure:
            self._failed(target, failure)
        else:
            self._succeeded(target, size_bytes=len(content), asked_us=asked_us, seconds=seconds)

    def _succeeded(self, target: Target, *, size_bytes: int, asked_us: int, seconds: float) -> None:
        with self._guard:
            before = self._statistics.get(target.name)
            if before is None:  # taken off the list meanwhile
                return
            self._statistics[target.name] = replace(
                before, scrapes=before.scrapes + 1, problem="", seconds=seconds, size_bytes=size_bytes,
                kept_at_us=asked_us,
            )  # fmt: skip
        if before.problem:
            _LOG.warning("%s: scraped again", target.name)

    def _failed(self, target: Target, problem: str) -> None:
        with self._guard:
            before = self._statistics.get(target.name)
            if before is None:
                return
            self._statistics[target.name] = replace(before, failures=before.failures + 1, problem=problem)
        if before.problem != problem:
            _LOG.warning("%s: not scraped: %s", target.name, problem)


def phase(target: Target) -> float:
    """Return when in its interval a target is asked, in seconds: always the same, and unlike that of most others."""
    digest = hashlib.blake2b(f"{target.name}\n{target.url}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64 * target.interval_seconds
