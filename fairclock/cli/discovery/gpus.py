"""Own the look for GPUs: the driver's library, a DCGM exporter, or devices that neither shows."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from fairclock.cli.discovery.discovered import Discovered, absent
from fairclock.errors import FairclockError

if TYPE_CHECKING:
    from fairclock.cli.discovery.machine import Machine

_SUBJECT = "GPUs"
_EXPORTER_PORT = 9400
_OK = 200
_NO_DRIVER = "NVML shows none"


def look_for_gpus(machine: Machine) -> Discovered:
    """Ask the driver's library, then an exporter; say what devices there are that neither knows."""
    count, why_not = driver_count()
    if count:
        return Discovered(
            subject=_SUBJECT,
            detail=f"{count}, through the driver's library (NVML)",
            settings={"gpu.source": "nvml", "gpu.expect": count},
        )
    answer = machine.ask(_EXPORTER_PORT, "/metrics")
    if answer is not None and answer.status == _OK and "DCGM_FI_" in answer.text:
        from collectors.gpu.dcgm.scrapes import read_scrape  # noqa: PLC0415 - only where there is an exporter

        url = f"http://{machine.host}:{_EXPORTER_PORT}/metrics"
        cards = read_scrape(answer.text.encode(), host=url).devices
        return Discovered(
            subject=_SUBJECT,
            detail=f"{len(cards)} devices, through the DCGM exporter at {url}",
            settings={"gpu.source": "dcgm", "gpu.urls": [url]},
        )
    devices = sorted(machine.path("/dev").glob("nvidia[0-9]*"))
    if devices or shutil.which("nvidia-smi"):
        what = f"{len(devices)} devices /dev/nvidia*" if devices else "nvidia-smi"
        return Discovered(
            subject=_SUBJECT,
            detail=f"{what}, but {why_not}, and no DCGM exporter on port {_EXPORTER_PORT}: see fairclock doctor with gpu.source: nvml",
        )
    return absent(_SUBJECT, f"{why_not}, and no DCGM exporter answers on port {_EXPORTER_PORT}")


def driver_count() -> tuple[int, str]:
    """Return how many GPUs the driver's library shows, and why it shows none."""
    from collectors.gpu.nvml.library import load_binding, sentence_of  # noqa: PLC0415 - an extra

    try:
        nvml = load_binding()
    except FairclockError:
        return 0, "NVML cannot be asked (nvidia-ml-py is not installed)"
    try:
        nvml.nvmlInit()
        try:
            return int(nvml.nvmlDeviceGetCount()), _NO_DRIVER
        finally:
            nvml.nvmlShutdown()
    except nvml.NVMLError as problem:
        return 0, f"NVML shows none ({sentence_of(problem).partition(';')[0]})"
