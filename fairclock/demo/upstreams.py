"""Own how nginx writes the tries of one request: lists ``a, b`` with a time for each."""

from __future__ import annotations

from math import floor, isnan
from typing import TYPE_CHECKING

from fairclock.demo.course import End

if TYPE_CHECKING:
    from fairclock.demo.course import FailedTry
    from fairclock.demo.gateway import Run

_PHASE_MS = 0.37
"""nginx times upstreams on its monotonic clock, whose milliseconds begin at other instants than the wall's."""

_STATUS = {
    End.ANSWERED: "200",
    End.LEFT_MIDSTREAM: "200",
    End.CUT: "200",
    End.LEFT_EARLY: "-",
    End.TIMED_OUT: "504",
    End.MALFORMED: "400",
    End.ENGINE_FULL: "503",
}
_NONE = ",".join(
    f'"upstream_{each}":""' for each in ("addr", "status", "connect_time", "header_time", "response_time")
)


def addresses(run: Run) -> list[str]:
    """Return the address of each of the run's engines, as the gateway logs it."""
    models = sorted(set(run.models))
    return [
        f"10.20.{1 + models.index(model)}.{11 + run.models[:number].count(model)}:8000"
        for number, model in enumerate(run.models)
    ]


class Upstreams:
    """The five upstream fields of a run's requests."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._course = run.course
        self._addresses = addresses(run)
        self._connect_seconds = (run.traffic.path.inlet / 2).tolist()
        self._stream = run.traffic.stream.tolist()

    def fields(self, number: int, end: End) -> str:
        """Return ``"upstream_addr":…`` to ``"upstream_response_time":…`` of a request that ended so."""
        tries = self._course.failed_tries.get(number)
        if tries is None:
            if end is End.LIMITED:
                return _NONE
            address, status, connect, header, response = self._final(number, end)
        else:
            rows = [self._failed(number, each) for each in tries]
            if end is not End.UNREACHABLE:
                rows.append(self._final(number, end))
            address, status, connect, header, response = (
                ", ".join(column) for column in zip(*rows, strict=True)
            )
        return (
            f'"upstream_addr":"{address}","upstream_status":"{status}","upstream_connect_time":"{connect}",'
            f'"upstream_header_time":"{header}","upstream_response_time":"{response}"'
        )

    def _final(self, number: int, end: End) -> tuple[str, str, str, str, str]:
        """Return the try that the gateway's answer came from."""
        course = self._course
        start = course.forwarded[number]
        responded = course.responded[number]
        header = "-"
        if end is not End.LEFT_EARLY and end is not End.TIMED_OUT:
            begun = course.marks.first_token[number]
            streamed = self._stream[number] and not isnan(begun)
            header = _elapsed(start, min(begun + 0.001, responded) if streamed else responded)
        return (
            self._addresses[course.replica[number]],
            _STATUS[end],
            _elapsed(start, start + self._connect_seconds[number]),
            header,
            _elapsed(start, responded),
        )

    def _failed(self, number: int, each: FailedTry) -> tuple[str, str, str, str, str]:
        """Return a try that another one followed, or that was the last and failed."""
        response = _elapsed(each.start, each.end)
        if each.replica < 0:  # "no live upstreams": nginx names the group instead of a peer
            model = self._run.traffic.tenants[self._run.traffic.tenant[number]].model
            return model, "502", "-", "-", response
        connect = _elapsed(each.start, min(each.start + self._connect_seconds[number], each.end))
        return self._addresses[each.replica], "502", connect, "-", response


def _elapsed(start: float, end: float) -> str:
    elapsed = floor(end * 1000.0 + _PHASE_MS) - floor(start * 1000.0 + _PHASE_MS)
    return f"{elapsed // 1000}.{elapsed % 1000:03d}"
