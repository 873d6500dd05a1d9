"""Own how the lines of a stream become looks at devices: the header, the cells, what is no line of data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from collectors.gpu.devices import Gpu
from collectors.gpu.nvidia_smi.columns import ALIASES, COLUMNS, take_cell
from collectors.gpu.readings import Readings, Reason
from fairclock.model import to_us

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNIT = re.compile(r"\s*\[[^\]]*\]\s*$")
_TIMES = ("%Y/%m/%d %H:%M:%S.%f", "%Y/%m/%d %H:%M:%S")
_NOT_A_ROW = re.compile(
    r"No devices were found|Unable to determine the device handle|has failed because|Failed to initialize NVML"
    r"|GPU is lost|Field \".*\" is not a valid field|\bDriver/library version mismatch"
)
_KNOWN = frozenset({*COLUMNS, "timestamp", "index", "uuid", "name", "pci.bus_id", "driver_version"})
_LEAST_KNOWN_COLUMNS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One line: which device, when by the stream's own clock (None where it does not say), what it showed."""

    gpu: Gpu
    at_us: int | None
    readings: Readings


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A line that is no data, and why; `is_message` where the program itself said that something is wrong."""

    reason: str
    text: str
    is_message: bool = False


class SmiStream:
    """Read the lines of one stream, whose header names its columns; a header may come again.

    zone: of the stream's times, which name none; without it times are not read. columns: where it has no header.
    """

    def __init__(self, *, host: str, zone: tzinfo | None, columns: Sequence[str] = ()) -> None:
        self._host = host
        self._zone = zone
        self._columns = [_column(each) for each in columns]

    def read(self, line: str) -> Look | Unreadable | None:
        """Return what a line says; None for a header and a blank line."""
        text = line.strip().lstrip("\ufeff")
        if not text:
            return None
        if _NOT_A_ROW.search(text):
            return Unreadable(reason="a message of the program", text=text, is_message=True)
        cells = [cell.strip() for cell in text.split(",")]
        names = [_column(cell) for cell in cells]
        if sum(name in _KNOWN for name in names) >= min(len(names), _LEAST_KNOWN_COLUMNS):
            self._columns = names
            return None
        if not self._columns:
            return Unreadable(reason="no header names the columns", text=text)
        if len(cells) != len(self._columns):
            return Unreadable(
                reason=f"{len(cells)} cells under {len(self._columns)} columns",
                text=text,
            )
        return self._look(dict(zip(self._columns, cells, strict=True)), text)

    def _look(self, cells: dict[str, str], text: str) -> Look | Unreadable:
        gpu = self._gpu(cells)
        if gpu is None:
            return Unreadable(reason="no uuid, pci.bus_id or index tells which GPU it is", text=text)
        at_us = None
        if self._zone is not None:
            at_us = _instant_us(cells.get("timestamp", ""), self._zone)
            if at_us is None:
                return Unreadable(reason="no timestamp that can be read", text=text)
        readings = Readings()
        for column, cell in cells.items():
            if column in COLUMNS:
                take_cell(readings, column, cell)
        if cells.get("mig.mode.current", "").lower() == "enabled":
            for field in ("utilization_ratio", "memory_utilization_ratio"):
                if field in readings.missing:
                    readings.missing[field] = Reason.MIG
        return Look(gpu=gpu, at_us=at_us, readings=readings)

    def _gpu(self, cells: dict[str, str]) -> Gpu | None:
        uuid, bus, index = (_said(cells.get(name, "")) for name in ("uuid", "pci.bus_id", "index"))
        known = uuid or (f"{self._host}/{bus or index}" if bus or index else "")
        if not known:
            return None
        is_number = index.isascii() and index.isdecimal() and int(index) < 1 << 16
        return Gpu(
            uuid=known,
            host=self._host,
            index=int(index) if is_number else None,
            name=_said(cells.get("name", "")),
            bus=bus,
            driver=_said(cells.get("driver_version", "")),
        )


def _column(cell: str) -> str:
    name = _UNIT.sub("", cell).strip().lower()
    return ALIASES.get(name, name)


def _said(cell: str) -> str:
    return "" if cell.startswith("[") or cell in ("N/A", "") else cell


def _instant_us(text: str, zone: tzinfo) -> int | None:
    for form in _TIMES:
        try:
            return to_us(datetime.strptime(text, form).replace(tzinfo=zone).astimezone(UTC))
        except (ValueError, OverflowError):
            continue
    return None
