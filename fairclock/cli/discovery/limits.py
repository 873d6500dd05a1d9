"""Own the look at the control group: how much memory and CPU this process may have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.cli.discovery.discovered import Discovered, absent

if TYPE_CHECKING:
    from fairclock.cli.discovery.machine import Machine

_SUBJECT = "limits"
_MIB = 1 << 20
_UNLIMITED_BYTES = 1 << 60  # the first version of control groups writes a number near 2^63
_LEAST_BYTES = 1 << 30


def look_at_limits(machine: Machine) -> Discovered:
    """Read the limits of this process's control group, of either version."""
    memory_bytes, cpus, version = _second(machine) or _first(machine)
    if memory_bytes is None and cpus is None:
        return absent(_SUBJECT, f"no control group limits memory or CPU ({version})")
    said = []
    if memory_bytes is not None:
        said.append(f"{memory_bytes // _MIB:,} MiB of memory")
    if cpus is not None:
        said.append(f"{cpus:g} CPUs")
    advice = ""
    if memory_bytes is not None and memory_bytes < _LEAST_BYTES:
        advice = "; an embedded store wants 1 GiB, a sidecar (fairclock collect --to) 256 MiB"
    return Discovered(subject=_SUBJECT, detail=f"{' and '.join(said)} ({version}){advice}")


def _second(machine: Machine) -> tuple[int | None, float | None, str] | None:
    own = next((line[3:] for line in (machine.text("/proc/self/cgroup") or "").splitlines() if line.startswith("0::")), None)  # fmt: skip
    if own is None or machine.text("/sys/fs/cgroup/cgroup.controllers") is None:
        return None
    memory: list[int] = []
    cpus: list[float] = []
    parts = [part for part in own.split("/") if part and part != ".."]
    for length in range(len(parts) + 1):  # the tightest of the group's own and those above it
        folder = "/".join(["/sys/fs/cgroup", *parts[:length]])
        text = (machine.text(f"{folder}/memory.max") or "").strip()
        if text.isdigit():
            memory.append(int(text))
        quota, _, period = (machine.text(f"{folder}/cpu.max") or "").strip().partition(" ")
        if quota.isdigit() and period.isdigit():
            cpus.append(int(quota) / int(period))
    return min(memory, default=None), min(cpus, default=None), "cgroup v2"


def _first(machine: Machine) -> tuple[int | None, float | None, str]:
    text = (machine.text("/sys/fs/cgroup/memory/memory.limit_in_bytes") or "").strip()
    memory = int(text) if text.isdigit() and int(text) < _UNLIMITED_BYTES else None
    quota = (machine.text("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") or "").strip()
    period = (machine.text("/sys/fs/cgroup/cpu/cpu.cfs_period_us") or "").strip()
    cpus = int(quota) / int(period) if quota.isdigit() and period.isdigit() and int(period) else None
    return memory, cpus, "cgroup v1" if text else "none found"
