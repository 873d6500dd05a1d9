"""Own the collector of GPUs in a long-running command: made from the settings, and what it publishes."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

from exporters.prometheus import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from collectors.gpu.board import Board
    from collectors.gpu.collector import GpuCollector, GpuSource
    from collectors.gpu.configuration import GpuSection
    from collectors.gpu.statistics import GpuStatistics
    from fairclock.cli.pipeline.intake import Intake

_NS_PER_US = 1_000
_DEMO_GPUS = 2
_OFF = "off"


def named(section: GpuSection) -> GpuSection:
    """Return the settings for somebody who asked for GPUs by name: NVML where they choose nothing else."""
    return section.model_copy(update={"source": "nvml"}) if section.source == _OFF else section


def make_gpu_collector(section: GpuSection, intake: Intake) -> GpuCollector:
    """Return the collector that `section` asks for; raises `UsageError` where the binding of NVML is not there."""
    from collectors.gpu.board import Board  # noqa: PLC0415 - only where GPUs are measured
    from collectors.gpu.collector import GpuCollector  # noqa: PLC0415

    board = Board(
        collector=section.source,
        host=section.host or socket.gethostname(),
        # an exporter is asked now and then; the others have something to say every second, or ought to
        is_steady=section.source != "dcgm",
    )
    return GpuCollector(
        _source(section, board), board, intake, name=section.name, expect=section.expect, now_us=_now_us
    )


def _source(section: GpuSection, board: Board) -> GpuSource:
    if section.source == "dcgm":
        from collectors.gpu.dcgm.source import DcgmSource  # noqa: PLC0415

        return DcgmSource(board, section.urls, interval=section.interval, now_us=_now_us)
    if section.source == "demo":
        from collectors.gpu.demo import DemoSource  # noqa: PLC0415

        return DemoSource(
            board, host=board.host, gpus=max(section.expect, _DEMO_GPUS), now_us=_now_us,
            samples_per_second=section.samples_per_second,
        )  # fmt: skip
    if section.source == "nvidia-smi":
        from collectors.gpu.nvidia_smi.source import NvidiaSmiSource  # noqa: PLC0415

        return NvidiaSmiSource(
            board, command=section.command, host=board.host, samples_per_second=section.samples_per_second,
            call_timeout=section.call_timeout, now_us=_now_us, monotonic=time.monotonic,
        )  # fmt: skip
    from collectors.gpu.nvml.library import load_binding  # noqa: PLC0415
    from collectors.gpu.nvml.source import NvmlSource  # noqa: PLC0415

    return NvmlSource(
        load_binding(), board, host=board.host, samples_per_second=section.samples_per_second,
        call_timeout=section.call_timeout, now_us=_now_us, monotonic=time.monotonic,
    )  # fmt: skip


def gpu_announcement(section: GpuSection, destination: str) -> str:
    """Return what is said when the collector begins."""
    origins = {
        "nvml": "measuring GPUs through NVML",
        "dcgm": f"measuring GPUs through {', '.join(section.urls)}",
        "nvidia-smi": f"measuring GPUs through {section.command}",
        "demo": "inventing GPUs, whose rows are marked as simulated",
    }
    return f"{origins[section.source]}; into {destination}"


def gpu_figures(gpu: GpuStatistics) -> Iterator[Figure]:
    """Yield how many GPUs there are, and how they fare."""
    for name, about, value in (
        ("gpus_expected", "GPUs that should be there.", gpu.expected),
        ("gpus_visible", "GPUs that are there and answer.", gpu.visible),
        ("gpus_lost", "GPUs that fell off the bus.", gpu.lost),
        ("gpus_hung", "GPUs with a call that does not return.", gpu.hung),
        ("gpu_instances", "MIG instances.", gpu.instances),
        ("gpu_measuring", "1 while all that should be measured is, 0 while it is not.", not gpu.problem),
    ):
        yield Figure(name=f"fairclock_{name}", about=about, value=value)
    for name, about, value in (
        ("gpu_samples", "Looks at a GPU or MIG instance.", gpu.samples),
        ("gpu_lines", "Rows and events that were kept.", gpu.lines),
        ("gpu_dropped", "Rows and events that could not be kept.", gpu.dropped),
        ("gpu_hung_calls", "Calls that did not return in time.", gpu.hung_calls),
        ("gpu_driver_losses", "How often the driver went away.", gpu.driver_losses),
    ):
        yield Figure(name=f"fairclock_{name}", about=about, value=value, kind="counter")


def _now_us() -> int:
    return time.time_ns() // _NS_PER_US
