"""Own the checks of the gateway's log files: there, readable, and of the format that is read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from collectors.gateway.formats import FormatChoice
from collectors.gateway.recognition import recognised
from collectors.gateway.tailing.patterns import Patterns
from fairclock.cli.diagnosis.finding import error, from_error, ok, warning
from fairclock.errors import FairclockError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from collectors.gateway.configuration import GatewaySection
    from collectors.gateway.formats import GatewayFormat
    from fairclock.cli.diagnosis.finding import Finding

_LOOKED_AT_BYTES = 64 << 10
_LOOKED_AT_LINES = 50
_KEYS = ("time", "request_time", "status")


def log_findings(section: GatewaySection) -> Iterator[Finding]:
    """Look at the last whole line of each file that would be followed."""
    for pattern in section.files:
        try:
            paths = Patterns([str(pattern)]).paths()
        except FairclockError as problem:
            yield from_error("gateway.files", problem)
            continue
        if not paths:
            yield warning(
                "gateway.files",
                f"no file is called {pattern} yet",
                "correct the name, or wait for it to appear",
            )
        for path in paths:
            yield file_finding(path, section.full_format)


def file_finding(path: str, format_name: str) -> Finding:
    """Say whether a log is there, can be read, and is written in the format that is named."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _LOOKED_AT_BYTES))
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return warning(
            "gateway.files", f"{path} is not there yet", "correct the name, or wait for it to appear"
        )
    except OSError as problem:
        return error(
            "gateway.files",
            f"{path} cannot be read ({problem.strerror})",
            "let this user read it, for example as a member of the log's group",
        )
    whole = [line for line in lines[:-1] if line.strip()]
    if not whole:
        return ok("gateway.files", f"{path}, nothing in it yet")
    try:
        detected = FormatChoice(format_name).of(whole[-_LOOKED_AT_LINES:], where=path)
    except FairclockError as problem:
        return from_error("gateway.files", problem)
    if _is_read(detected.form, whole[-1]):
        shipped = detected.form.passes_through
        return ok("gateway.files", path if shipped else f"{path}, {detected.form.name}")
    looks, remedy = recognised(whole[-1])
    return error("gateway.files", f"{path} {looks}", remedy)


def _is_read(form: GatewayFormat, line: bytes) -> bool:
    if form.ignores(line):
        return True
    try:
        values = form.read(line.replace(b"\\x", b"\\\\x") if form.passes_through else line)
        return all(float(values[key]) >= 0 for key in _KEYS)
    except (ValueError, KeyError):
        return False
