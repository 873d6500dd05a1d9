"""Own the canonical lines of GPUs, one JSON object each, and how a frame of them becomes batches."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fairclock.store import LineBatch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from collectors.gpu.devices import Gpu, State
    from collectors.gpu.events import GpuEvent
    from collectors.gpu.readings import Process
    from fairclock.model import Frame

FORMAT = "gpu-json"
"""The format of frames that hold these lines, rows and events mixed, each with its newline."""
_EVENT = b'{"event":'
LONGEST_BAD_LINE = 1000


def row_line(
    gpu: Gpu,
    second: int,
    *,
    collector: str,
    state: State,
    samples: int,
    columns: Mapping[str, float],
    missing: Mapping[str, str],
    processes: Sequence[Process] | None,
) -> bytes:
    """Return the line of one device in the second that begins `second` seconds after 1970."""
    line: dict[str, object] = {"gpu": gpu.uuid, "second": second, "host": gpu.host, "collector": collector}
    line |= _about(gpu)
    line |= {"state": str(state), "samples": samples, **columns}
    if processes is not None:
        line["process_pids"] = [each.pid for each in processes]
        line["process_bytes"] = [each.used_bytes for each in processes]
    if missing:
        line["missing"] = {name: str(reason) for name, reason in missing.items()}
    return _dumped(line)


def event_line(event: GpuEvent, *, host: str, collector: str, sequence: int) -> bytes:
    """Return the line of an event, the `sequence`-th of this collector, so that two equal ones stay two."""
    line: dict[str, object] = {
        "event": str(event.kind), "at_us": event.at_us, "sequence": sequence, "host": host, "collector": collector,
        "gpu": event.gpu, "parent": event.parent, "detail": event.detail,
    }  # fmt: skip
    for key in ("gpu_instance", "compute_instance", "code", "count"):
        value = getattr(event, key)
        if value is not None:
            line[key] = value
    if event.is_simulated:
        line["simulated"] = 1
    return _dumped(line)


def bad_line(reason: str, text: str, *, number: int) -> bytes:
    """Return the line of what could not be read: the `number`-th line of its file or stream."""
    return _dumped({"bad": reason, "number": number, "text": text[:LONGEST_BAD_LINE]})


def batches_of(frame: Frame) -> list[LineBatch]:
    """Adapt a frame: its rows and its events are two kinds of rows."""
    rows, events = parted(frame.payload.splitlines())
    batches = []
    if rows:
        batches.append(LineBatch(kind="gpu", source=frame.source, lines=rows))
    if events:
        batches.append(LineBatch(kind="gpu_event", source=frame.source, lines=events))
    return batches


def parted(lines: Sequence[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Return (rows, events)."""
    rows: list[bytes] = []
    events: list[bytes] = []
    for line in lines:
        (events if line.startswith(_EVENT) else rows).append(line)
    return rows, events


def _about(gpu: Gpu) -> dict[str, object]:
    about: dict[str, object] = {
        "parent": gpu.parent, "index": gpu.index, "gpu_instance": gpu.gpu_instance,
        "compute_instance": gpu.compute_instance, "name": gpu.name, "bus": gpu.bus, "driver": gpu.driver,
        "profile": gpu.profile, "simulated": int(gpu.is_simulated) or None,
    }  # fmt: skip
    return {key: value for key, value in about.items() if value not in (None, "")}


def _dumped(line: Mapping[str, object]) -> bytes:
    # ASCII: a line stays one line, whatever a driver or an exporter calls its device
    return json.dumps(line, separators=(",", ":")).encode()
