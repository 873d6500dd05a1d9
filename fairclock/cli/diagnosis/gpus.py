"""Own the check of GPUs: what would be asked for them, and whether it shows as many as there should be."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import httpx

from fairclock.cli.diagnosis.finding import error, from_error, ok
from fairclock.errors import FairclockError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from collectors.gpu.configuration import GpuSection
    from fairclock.cli.diagnosis.finding import Finding

_CHECK = "gpu"
_ANSWER_SECONDS = 3.0


def gpu_findings(section: GpuSection) -> Iterator[Finding]:
    """Look whether GPUs can be measured as configured; nothing where they are not to be."""
    if section.source == "nvml":
        yield _nvml_finding(section.expect)
    elif section.source == "dcgm":
        for url in section.urls:
            yield _exporter_finding(url)
    elif section.source == "nvidia-smi":
        path = shutil.which(section.command)
        if path is None:
            yield error(
                _CHECK,
                f"{section.command} is not there",
                "install the NVIDIA driver's tools, or set gpu.command",
            )
        else:
            yield ok(_CHECK, path)


def _nvml_finding(expect: int) -> Finding:
    from collectors.gpu.nvml.identity import driver_version  # noqa: PLC0415
    from collectors.gpu.nvml.library import load_binding, sentence_of  # noqa: PLC0415

    try:
        nvml = load_binding()
    except FairclockError as problem:
        return from_error(_CHECK, problem)
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as problem:
        detail, _, remedy = sentence_of(problem).partition("; ")
        return error(_CHECK, f"NVML: {detail}", remedy or "see that nvidia-smi works for this user")
    try:
        found = int(nvml.nvmlDeviceGetCount())
        detail = f"NVML, driver {driver_version(nvml)}, {found} of {expect} expected GPUs"
    except nvml.NVMLError as problem:
        return error(_CHECK, f"NVML: {problem}", "see that nvidia-smi works for this user")
    finally:
        nvml.nvmlShutdown()
    if found < expect:
        return error(
            _CHECK,
            detail,
            "see dmesg for NVRM and Xid; in a container, NVIDIA_VISIBLE_DEVICES; else set gpu.expect",
        )
    return ok(_CHECK, detail)


def _exporter_finding(url: str) -> Finding:
    from collectors.gpu.dcgm.scrapes import read_scrape  # noqa: PLC0415
    from collectors.vllm_metrics.scraping.urls import with_default_path  # noqa: PLC0415

    address = with_default_path(url)
    remedy = "see that dcgm-exporter runs there, and that gpu.urls is right"
    try:
        answer = httpx.get(address, timeout=_ANSWER_SECONDS, trust_env=False)
    except (httpx.HTTPError, httpx.InvalidURL) as problem:
        return error(_CHECK, f"{address}: {problem or type(problem).__name__}", remedy)
    if answer.status_code != httpx.codes.OK:
        return error(_CHECK, f"{address}: HTTP {answer.status_code}", remedy)
    devices = read_scrape(answer.content, host=address).devices
    if not devices:
        return error(_CHECK, f"{address} shows no GPU", remedy)
    return ok(_CHECK, f"{address}, {len(devices)} devices")
