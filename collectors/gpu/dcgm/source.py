"""Own the scraping of DCGM exporters, each in its turn, without waiting for one that does not answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from threading import Event, Thread
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from collectors.gpu.dcgm.scrapes import read_scrape
from collectors.gpu.dcgm.xids import XidGauges
from collectors.gpu.devices import State
from collectors.gpu.events import EventKind, GpuEvent
from collectors.gpu.readings import EVERYTHING, Readings, Reason
from collectors.vllm_metrics.scraping.fetching import Fetcher, ScrapeFailedError
from collectors.vllm_metrics.scraping.targets import Target
from collectors.vllm_metrics.scraping.urls import with_default_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import httpx

    from collectors.gpu.board import Board
    from collectors.gpu.devices import Gpu

_LOG = logging.getLogger(__name__)
_LONGEST_SECONDS = 10.0


class _Exporter:
    """One exporter: where it is, and the devices it told of."""

    def __init__(self, url: str, *, interval: float) -> None:
        self.target = Target(
            name=url, url=with_default_path(url), interval_seconds=interval,
            timeout_seconds=min(interval, _LONGEST_SECONDS),
        )  # fmt: skip
        self.host = urlsplit(url).hostname or url
        self.gpus: dict[str, Gpu] = {}
        self.problem = ""


class DcgmSource:
    """Write what exporters say on `board`; a scrape is one look at each of its devices."""

    hung_calls = 0
    driver_losses = 0

    def __init__(
        self,
        board: Board,
        urls: Sequence[str],
        *,
        interval: float,
        now_us: Callable[[], int],
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._board = board
        self._exporters = [_Exporter(url, interval=interval) for url in urls]
        self._interval = interval
        self._now_us = now_us
        self._transport = transport
        self._xids = XidGauges()
        self._stop = Event()
        self._thread = Thread(target=self._run, name="gpu-dcgm", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the scrape that is under way."""
        self._stop.set()
        self._thread.join(_LONGEST_SECONDS + 1)

    @property
    def is_alive(self) -> bool:
        """Return whether the thread runs."""
        return self._thread.is_alive()

    def watch(self) -> None:
        """Every scrape has its time; there is nothing to look after."""

    def problem(self) -> str:
        """Return what keeps exporters from answering."""
        return "; ".join(f"{each.target.url}: {each.problem}" for each in self._exporters if each.problem)

    def _run(self) -> None:
        asyncio.run(self._scrape_on())

    async def _scrape_on(self) -> None:
        fetcher = Fetcher(transport=self._transport)
        try:
            async with asyncio.TaskGroup() as group:
                for exporter in self._exporters:
                    group.create_task(self._follow(fetcher, exporter))
        finally:
            with contextlib.suppress(OSError):
                await fetcher.close()

    async def _follow(self, fetcher: Fetcher, exporter: _Exporter) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while not self._stop.is_set():
            if loop.time() < due:
                await asyncio.sleep(min(0.2, max(due - loop.time(), 0)))
                continue
            due = max(due + self._interval, loop.time())
            await self._scrape(fetcher, exporter)

    async def _scrape(self, fetcher: Fetcher, exporter: _Exporter) -> None:
        try:
            body = await fetcher.fetch(exporter.target)
        except ScrapeFailedError as error:
            self._fail(exporter, str(error))
            return
        now_us = self._now_us()
        scrape = read_scrape(body.content, host=exporter.host, content_type=body.content_type)
        if scrape.bad_lines:
            first = scrape.bad_lines[0]
            _LOG.warning(
                "%s: %d lines could not be read, the first: %s",
                exporter.target.url, len(scrape.bad_lines), first.reason,
            )  # fmt: skip
        for scraped in scrape.devices.values():
            self._board.see(scraped.gpu)
            self._board.set_state(scraped.gpu.uuid, State.OK)
            self._board.add(scraped.gpu, now_us, scraped.readings)
            event = None if scraped.xid is None else self._xids.read(scraped.gpu, scraped.xid, at_us=now_us)
            if event is not None:
                self._board.tell(event)
        self._compare(exporter, {uuid: each.gpu for uuid, each in scrape.devices.items()}, now_us)
        exporter.problem = "" if scrape.devices else "it shows no GPU"

    def _compare(self, exporter: _Exporter, gpus: dict[str, Gpu], now_us: int) -> None:
        """Tell which devices came, and which no longer show: an exporter leaves out what fell off the bus."""
        for uuid, gpu in gpus.items():
            if uuid not in exporter.gpus and not gpu.is_instance:
                self._board.tell(GpuEvent(kind=EventKind.ADDED, at_us=now_us, gpu=uuid, detail=gpu.name))
        for uuid, gpu in exporter.gpus.items():
            if uuid in gpus:
                continue
            self._board.forget(uuid)
            kind = EventKind.MIG_CHANGED if gpu.is_instance else EventKind.REMOVED
            self._board.tell(
                GpuEvent(
                    kind=kind, at_us=now_us, gpu=uuid, parent=gpu.parent, detail="no longer in the scrape"
                )
            )
        exporter.gpus = gpus

    def _fail(self, exporter: _Exporter, problem: str) -> None:
        now_us = self._now_us()
        if not exporter.problem:
            _LOG.warning("%s: %s", exporter.target.url, problem)
            self._board.tell(
                GpuEvent(kind=EventKind.DRIVER_AWAY, at_us=now_us, detail=f"{exporter.target.url}: {problem}")
            )
        exporter.problem = problem
        for gpu in exporter.gpus.values():
            self._board.set_state(gpu.uuid, State.UNREACHABLE)
            self._board.add(gpu, now_us, Readings(missing={EVERYTHING: Reason.UNREACHABLE}))
