"""Own the thread that sends requests as spans: batch by batch from the store, so that what waits takes no memory.

The batch that is being sent is all that is held. Up to where requests were sent is kept on the disk; after a restart, or a
receiver that was away, the sending goes on there. A batch that is sent twice has the same ids.
"""

from __future__ import annotations

import json
import logging
import os
from collections import Counter
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TYPE_CHECKING, NamedTuple

from exporters.back_off import BackOff
from exporters.otlp.decomposition import is_sampled, resource_of, spans_of
from exporters.otlp.encoding import trace_request
from exporters.otlp.sending import Fate
from fairclock.errors import FairclockError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from exporters.otlp.configuration import OtlpExportSection
    from exporters.otlp.decomposition import FinishedRequest
    from exporters.otlp.sending import Answer

_LOG = logging.getLogger(__name__)
EVERY_SECONDS = 5.0
_STOP_SECONDS = 15.0


class Batch(NamedTuple):
    """Requests that follow each other, how many were passed over for their age, and where the next batch begins.

    place: as JSON has it. is_all: nothing more waits.
    """

    requests: Sequence[FinishedRequest]
    passed_over: int
    place: list[int]
    is_all: bool


@dataclass(slots=True)
class RequestStatistics:
    """What became of requests."""

    sent: int = 0
    unsampled: int = 0
    passed_over: int = 0
    refused: int = 0
    rejected_spans: int = 0
    failures: int = 0
    problem: str = ""


@dataclass(slots=True, kw_only=True)
class RequestSender:
    """Sends what `read` returns after the place it is given; None where nothing was sent yet."""

    section: OtlpExportSection
    post: Callable[[bytes], Answer]
    read: Callable[[list[int] | None], Batch]
    path: Path
    random: Callable[[], float]
    statistics: RequestStatistics = field(default_factory=RequestStatistics)
    _stop: Event = field(default_factory=Event)
    _thread: Thread | None = None

    def start(self) -> None:
        """Begin."""
        self._thread = Thread(target=self._run, name="spans", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End; a batch that was not taken is sent by the next process."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    @property
    def is_alive(self) -> bool:
        """Return whether it goes on."""
        return self._thread is not None and self._thread.is_alive()

    def step(self) -> bool:
        """Send the next batch, and return whether more waits; raises `FairclockError` where it cannot be read.

        A batch that is to be sent again is, until it is taken or refused, or this is stopped.
        """
        batch = self.read(self._place())
        sampled = [each for each in batch.requests if is_sampled(each, one_in=self.section.one_in)]
        if sampled:
            answer = self._posted(self._encoded(sampled))
            if answer is None:
                return False
            if answer.fate is Fate.TAKEN:
                self.statistics.sent += len(sampled)
                self.statistics.rejected_spans += answer.rejected
            else:
                self.statistics.refused += len(sampled)
            self._say(answer.problem)
        self.statistics.unsampled += len(batch.requests) - len(sampled)
        self.statistics.passed_over += batch.passed_over
        self._keep(batch.place)
        return not batch.is_all

    def _encoded(self, requests: Sequence[FinishedRequest]) -> bytes:
        resource = resource_of(self.section.service)
        traces = Counter(each.trace_id for each in requests)
        return trace_request(
            span
            for each in requests
            for span in spans_of(each, resource, is_alone=traces[each.trace_id] == 1)
        )

    def _posted(self, content: bytes) -> Answer | None:
        back_off = BackOff(first_seconds=1.0, most_seconds=60.0, random=self.random)
        while not self._stop.is_set():
            answer = self.post(content)
            if answer.fate is not Fate.AGAIN:
                return answer
            self.statistics.failures += 1
            self._say(answer.problem)
            waited = back_off.failed()
            self._stop.wait(waited if answer.wait_seconds is None else max(waited, answer.wait_seconds))
        return None

    def _run(self) -> None:
        failure = ""
        while not self._stop.is_set():
            more = False
            try:
                more = self.step()
            except Exception as error:  # noqa: BLE001 - said and counted; what waits is in the store until it has passed
                failure = str(error) if isinstance(error, FairclockError) else f"an unexpected {error!r}"
                self.statistics.failures += 1
                self._say(failure)
            else:
                if failure and self.statistics.problem == failure:
                    self._say("")  # there may be nothing to send that would say so
                failure = ""
            if not more:
                self._stop.wait(EVERY_SECONDS)

    def _say(self, problem: str) -> None:
        """Say a problem once for as long as it is the same."""
        if problem != self.statistics.problem:
            if problem:
                _LOG.warning("spans of requests: %s", problem)
            else:
                _LOG.info("spans of requests are taken again")
        self.statistics.problem = problem

    def _place(self) -> list[int] | None:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))["sent"]
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            _LOG.warning("%s cannot be read, so sending begins anew: %r", self.path, error)
            return None
        is_place = isinstance(found, list) and all(isinstance(each, int) for each in found)
        return found if is_place and len(found) == len(("stored_us", "content_hash", "k")) else None

    def _keep(self, place: list[int]) -> None:
        fresh = self.path.with_suffix(".new")
        try:
            fresh.write_text(json.dumps({"sent": place}), encoding="utf-8")
            os.replace(fresh, self.path)  # noqa: PTH105 - the call that is atomic
        except OSError as error:
            raise FairclockError(
                str(self.path),
                "cannot be written",
                found=error.strerror,
                remedy="make room, or correct its folder's owner",
            ) from error
