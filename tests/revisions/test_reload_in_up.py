"""`fairclock up` as a process: a contract's file that changes, breaks and is mended while it runs."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from fairclock.demo.live.programs import free_port
from tests.revisions.conftest import a_file
from tests.revisions.test_followed_contracts import replaced

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.integration
SECONDS = 90


@contextlib.contextmanager
def up(folder: Path) -> Iterator[str]:
    """Run `up` with the contract in `folder` until the end of ``with``; yield where it answers."""
    port = free_port()
    config = folder / "fairclock.yaml"
    config.write_text("sla: {contracts: [acme-2026.yaml]}\notlp: {grpc: 'off', http: 'off'}\n")
    words = ("up", "-c", str(config), "--dsn", f"chdb://{folder}/store", "--listen", f"127.0.0.1:{port}")
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "fairclock", *words], stderr=log, stdout=log, env={**os.environ}
        )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        assert process.wait(timeout=SECONDS) == 0, (folder / "log").read_text()


def metric(url: str, name: str) -> float | None:
    """Return a figure's only value; None while it is not told, or nobody answers."""
    try:
        text = httpx.get(f"{url}/metrics", timeout=30).text
    except httpx.TransportError:
        return None
    values = [line.rsplit(" ", 1)[1] for line in text.splitlines() if line.startswith(f"{name}{{")]
    return float(values[0]) if values else None


def wait_for(url: str, name: str, value: float, log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while metric(url, name) != value:
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.2)


def test_a_contract_that_changes_is_judged_by_without_a_restart(tmp_path):
    path, log = a_file(tmp_path), tmp_path / "log"
    good = path.read_text()
    broken = "fairclock_contract_file_broken"
    with up(tmp_path) as url:
        wait_for(url, broken, 0, log)
        replaced(path, "kind: [\n")
        wait_for(url, broken, 1, log)
        replaced(path, good.replace("Inference", "Inference, second edition"))
        wait_for(url, broken, 0, log)
        assert metric(url, "fairclock_evaluator_failing") == 0
    said = log.read_text()
    assert said.count("what it said before stays in force") == 1
    assert "is in force" in said
