"""Own what one scrape of a DCGM exporter says: the devices in it, their readings, their last XIDs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from collectors.gpu.dcgm.families import FAMILIES, XID
from collectors.gpu.devices import Gpu
from collectors.gpu.readings import Readings, Reason
from collectors.vllm_metrics.exposition import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from collectors.vllm_metrics.exposition import BadLine

_BLANKS: dict[float, Reason] = {
    base + offset: reason
    for base in ((1 << 31) - 16, (1 << 63) - 16, 1 << 47)
    for offset, reason in enumerate(
        (Reason.NOT_AVAILABLE, Reason.NOT_AVAILABLE, Reason.NOT_SUPPORTED, Reason.NO_PERMISSION)
    )
}
"""DCGM's blank, not found, not supported and not permitted, of 32 and 64 bits and of fractions."""
_HIGHEST_XID = 100_000


@dataclass(slots=True)
class Scraped:
    """One device in one scrape; `at_us` where the exporter said when it was measured."""

    gpu: Gpu
    readings: Readings = field(default_factory=Readings)
    xid: int | None = None
    at_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrape:
    """The devices of one scrape, by UUID, and the lines that could not be read."""

    devices: Mapping[str, Scraped]
    bad_lines: Sequence[BadLine]


def read_scrape(body: bytes, *, host: str, content_type: str | None = None) -> Scrape:
    """Return what an exporter answered; `host` is for series that do not name theirs. Never raises."""
    exposition = parse(body, content_type=content_type)
    devices: dict[str, Scraped] = {}
    for sample in exposition.samples:
        if sample.name not in FAMILIES and sample.name != XID:
            continue
        gpu = _gpu(dict(sample.labels), host)
        if gpu is None:
            continue
        scraped = devices.setdefault(gpu.uuid, Scraped(gpu))
        if sample.timestamp_us is not None:
            scraped.at_us = max(scraped.at_us or 0, sample.timestamp_us)
        value = math.nan if sample.value is None else sample.value
        if sample.name == XID:
            scraped.xid = int(value) if 0 <= value < _HIGHEST_XID else scraped.xid
            continue
        _take(scraped.readings, sample.name, value)
    for scraped in devices.values():
        if scraped.gpu.is_instance and "utilization_ratio" not in scraped.readings.values:
            scraped.readings.missing.setdefault("utilization_ratio", Reason.MIG)
    return Scrape(devices=devices, bad_lines=exposition.bad_lines)


def _take(readings: Readings, name: str, value: float) -> None:
    family = FAMILIES[name]
    blank = _blank(value)
    if blank is not None:
        readings.missing.setdefault(family.field, blank)
    elif family.field not in readings.values:  # the first of two families of one field
        readings.take(family.field, value, scale=family.scale)


def _blank(value: float) -> Reason | None:
    # text has its own precision: 9.223372036854776e+18 may be any of the four
    if not math.isfinite(value) or value >= 1 << 62:
        exact = _BLANKS.get(value) if isinstance(value, int) else None
        return exact or Reason.NOT_AVAILABLE
    return _BLANKS.get(value)


def _gpu(labels: dict[str, str], host: str) -> Gpu | None:
    uuid = labels.get("UUID") or labels.get("uuid", "")
    index = labels.get("gpu", "")
    here = labels.get("Hostname") or labels.get("hostname") or host
    whole = uuid or (f"{here}/{index}" if index else "")
    if not whole:
        return None
    instance = labels.get("GPU_I_ID", "")
    return Gpu(
        # an exporter does not tell the UUIDs of MIG instances
        uuid=f"{whole}/{instance}" if instance else whole,
        parent=whole if instance else "",
        host=here,
        index=_number(index),
        gpu_instance=_number(instance),
        name=labels.get("modelName", ""),
        bus=labels.get("pci_bus_id", ""),
        driver=labels.get("DCGM_FI_DRIVER_VERSION", ""),
        profile=labels.get("GPU_I_PROFILE", ""),
    )


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and int(text) < 1 << 16 else None
