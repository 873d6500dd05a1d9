"""Own which log records are the plugin's, and what becomes of each; every other record is passed over, and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collectors.otlp.engine_lines import (
    SPAN_ATTRIBUTES,
    EngineLines,
    bad_line,
    count_json,
    engine_line,
)
from collectors.otlp.engine_states import (
    LOST_FROM,
    LOST_TO,
    NUMBER,
    RANK,
    STATE_ATTRIBUTES,
    STATE_EVENTS,
    state_line,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from collectors.otlp.engine_lines import Engine, Scalar

EVENT = "event.name"
"""Where a record says what it is, unless its own field says it."""
FINISHED = "fairclock.request.finished"
_ARRIVED = "fairclock.arrived_unix_nano"
_DETAIL = {"engine_rank": RANK, "preemptions": "fairclock.preemptions", "record": NUMBER}
RECORD_ATTRIBUTES = SPAN_ATTRIBUTES | STATE_ATTRIBUTES | {EVENT, _ARRIVED, *_DETAIL.values()}
"""The allow-list of a record."""


class LogReading:
    """What was made of the log records of one request so far."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self._state_lines: list[bytes] = []
        self._ends_ns: list[int] = []
        self._lost_ns: list[tuple[int, int]] = []
        self.ignored = 0

    def add(self, event: str, at_ns: int, attributes: Mapping[str, Scalar], engine: Engine) -> None:
        """Take a record; `attributes` may hold keys of the allow-list only."""
        if event == FINISHED:
            self._finished(at_ns, attributes, engine)
            return
        state = STATE_EVENTS.get(event)
        if state is None:
            self.ignored += 1
            return
        self._state_lines.append(state_line(state, at_ns=at_ns, attributes=attributes, engine=engine))
        lost = attributes.get(LOST_FROM), attributes.get(LOST_TO)
        if isinstance(lost[0], int) and isinstance(lost[1], int):
            self._lost_ns.append((lost[0], lost[1]))

    def add_unreadable(self, engine: Engine) -> None:
        """Take a record that cannot be parsed."""
        self.lines.append(bad_line("not readable as a log record", engine=engine))

    def _finished(self, at_ns: int, attributes: Mapping[str, Scalar], engine: Engine) -> None:
        arrived_ns = attributes.get(_ARRIVED, 0)
        detail = ['"reporter":"plugin"']
        for name, key in _DETAIL.items():
            value = attributes.get(key)
            if value is not None:
                detail.append(f'"{name}":{count_json(value)}')
        line = engine_line(
            trace_id="",
            span_id="",
            start_ns=arrived_ns if isinstance(arrived_ns, int) else 0,
            end_ns=at_ns,
            attributes=attributes,
            engine=engine,
            detail=detail,
        )
        self.lines.append(line)
        self._ends_ns.append(at_ns)

    def result(self) -> EngineLines:
        """Return all of it."""
        return EngineLines(
            lines=self.lines,
            ends_ns=self._ends_ns,
            ignored=self.ignored,
            state_lines=self._state_lines,
            lost_ns=self._lost_ns,
        )
