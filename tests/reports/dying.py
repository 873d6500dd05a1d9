"""A drawing whose process is ended by some reports, as a machine without memory ends one."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

from sla.reports.batch import Drawing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class DyingDrawing(Drawing):
    """Draw, but for contracts called ``deadly-…``."""

    def write(self, report: Mapping[str, Any]) -> list[Path]:
        """End this very process where the contract says so, in the middle of a file."""
        if report["contract"]["id"].startswith("deadly"):
            (self.directory / "half-a-report.html").write_bytes(b"<html>")
            os.kill(os.getpid(), signal.SIGKILL)
        return super().write(report)
