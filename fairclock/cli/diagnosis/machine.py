"""Own the checks of this machine: its disk, its clock, its fonts."""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from fairclock.cli.diagnosis.finding import error, from_error, ok, warning
from fairclock.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from fairclock.cli.diagnosis.finding import Finding

_MIB = 1 << 20
_TIMEX_BYTES = 512  # more than any struct timex has
_TIME_ERROR = 5
_EARLIEST_YEAR, _LATEST_YEAR = 2025, 2100
_LEAST_FREE_BYTES = 256 * _MIB
_EVERY_SCRIPT = "A中"


def folder_finding(check: str, folder: Path, *, needs_bytes: int) -> Finding:
    """Look whether `folder`, or the nearest one that is there, takes files, and has room for `needs_bytes` more."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix=".fairclock-doctor-") as file:
            file.write(b"x")
            file.flush()
            os.fsync(file.fileno())
        free = shutil.disk_usage(place).free
    except OSError as problem:
        return error(
            check,
            f"{folder} cannot be written ({problem.strerror})",
            "make it writable for this user and see that its disk has room, or name another folder",
        )
    detail = f"{folder}, {free // _MIB:,} MiB free"
    if free < _LEAST_FREE_BYTES:
        return error(check, detail, "free space on its disk: collection stops when it is full")
    if free < needs_bytes:
        return warning(
            check,
            f"{detail}, {needs_bytes // _MIB:,} MiB may be needed",
            "free space on its disk, or lower spool.limit",
        )
    return ok(check, detail)


def spool_findings(folder: Path, *, limit_bytes: int) -> Iterator[Finding]:
    """Look at the spool's folder, its disk, and what is in quarantine; opens nothing that a process works on."""
    held = sum(path.stat().st_size for path in folder.glob("segments/*.segment"))
    yield folder_finding("spool", folder, needs_bytes=max(limit_bytes - held, 0))
    damaged = sorted(folder.glob("quarantine/*-damaged"))
    if damaged:
        yield warning(
            "spool's quarantine",
            f"{len(damaged)} damaged segments lie in {folder / 'quarantine'}: some of what was collected is lost",
            "check the disk, import the time again from the logs, then delete these files",
        )


def clock_finding(now: datetime) -> Finding:
    """Look whether the system's clock is set and kept by NTP."""
    if not _EARLIEST_YEAR <= now.year < _LATEST_YEAR:
        return error("clock", f"it is said to be {now:%Y-%m-%d}", "set the clock, and let NTP keep it")
    if _is_synchronised() is False:
        return warning(
            "clock",
            "the kernel does not know it to be synchronised",
            "run chrony or systemd-timesyncd; in a container, see that its host does",
        )
    return ok("clock", f"{now:%Y-%m-%dT%H:%M:%SZ}")


def _is_synchronised() -> bool | None:
    """Ask the kernel; None where it cannot be asked."""
    adjtimex = getattr(ctypes.CDLL(None), "adjtimex", None)
    if adjtimex is None:
        return None
    state = adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    return None if state < 0 else bool(state != _TIME_ERROR)


def document_findings() -> Iterator[Finding]:
    """Look whether reports can be set as PDF: the library, what it loads, and the fonts."""
    try:
        import weasyprint  # noqa: F401, PLC0415
    except ModuleNotFoundError as missing:
        yield ok(
            "documents", f"{missing.name} is not installed: this machine collects, and prints no reports"
        )
        return
    except OSError as problem:
        yield error(
            "documents",
            f"the PDF library cannot be loaded ({str(problem).splitlines()[0][:120]})",
            "apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0",
        )
        return
    from fairclock.documents.fonts import faces_for  # noqa: PLC0415

    try:
        faces = faces_for(_EVERY_SCRIPT)
    except DocumentError as problem:
        yield from_error("fonts", problem)
    else:
        families = dict.fromkeys(face.family for face in faces)
        yield ok("fonts", ", ".join(families))
