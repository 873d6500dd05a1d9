"""Own the trying of what stands around a store: other processes, dead ones, servers that are away, closed folders."""

from __future__ import annotations

import ctypes
import json
import signal
import socket
import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.commands import ROOT, Answer, Worker, environment, fairclock, said
from tests.acceptance.contracts import good_contract, latency, write_contract
from tests.acceptance.traffic import MS, Traffic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

START_US = 1_791_000_000_000 * MS
HOLDER = "tests.acceptance.holder"
BUSY_CONTRACT = good_contract(
    calendar={
        "peak": [
            {"days": "mon-fri", "from": "09:30", "to": "11:30"},
            {"days": "mon-fri", "from": "14:00", "to": "15:00"},
        ]
    },
    objectives=[
        latency("p99-peak", "end_to_end", 99, "2s", during="peak"),
        latency("p95-regular", "end_to_end", 95, "1500ms", during="not peak"),
        latency("ttft-regular", "time_to_first_token", 50, "300ms", during="not peak"),
        *good_contract()["objectives"],
    ],
)
"""With so many windows in a month that its query grows long: another process's engine has to be told all of it."""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    traffic = Traffic(random=Random(1))
    for number in range(5):
        traffic.log(received_us=START_US + number * MS, took_ms=90, request_id=f"r{number}", tenant="acme")
    gateway, _ = traffic.write(tmp_path / "raw")
    return gateway


@pytest.fixture
def dsn(tmp_path: Path) -> str:
    return f"chdb://{tmp_path}/store"


def everything_works(dsn: str, log: Path, folder: Path, *, stored: int) -> None:
    """Ingest, query and report, each in a process of its own."""
    answer = fairclock("ingest", "gateway", "--json", log, dsn=dsn)
    assert answer.code == 0, answer
    assert said(answer)["stored"] == stored
    answer = fairclock("query", "SELECT count() AS n FROM gateway_requests FINAL", "--json", dsn=dsn)
    assert answer.code == 0, answer
    assert int(json.loads(answer.out)["n"]) == 5
    contract = write_contract(BUSY_CONTRACT, folder)
    answer = fairclock("report", contract, "--month", "2026-10", "--json", dsn=dsn)
    assert answer.code == 1, answer
    assert json.loads(answer.out)["traffic"]["admitted"] == 5


def is_refused(answer: Answer, *says: str) -> None:
    """Check for exit code 2 and one sentence on stderr."""
    assert answer.code == 2, answer
    assert "Traceback" not in answer.err
    assert len(answer.err.strip().splitlines()) == 1, answer.err
    assert "; " in answer.err
    assert [each for each in says if each not in answer.err] == []


def test_every_command_works_beside_a_process_that_holds_the_folder(
    dsn: str, log: Path, tmp_path: Path
) -> None:
    with Worker(dsn, module=HOLDER) as holder:
        holder.ask("SELECT 1")
        everything_works(dsn, log, tmp_path, stored=5)
        holder.ask("SELECT 1")


@pytest.fixture
def up(dsn: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "fairclock",
            "up",
            "--grpc",
            "off",
            "--http",
            "127.0.0.1:0",
            "--listen",
            "off",
        ],
        cwd=ROOT,
        env=environment(FAIRCLOCK_DSN=dsn),
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    assert process.stderr.readline() != b"", "up ended"
    yield process
    process.kill()
    process.wait()
    process.stderr.close()


def test_every_command_works_beside_up_and_after_it(
    up: subprocess.Popen[bytes], dsn: str, log: Path, tmp_path: Path
) -> None:
    everything_works(dsn, log, tmp_path, stored=5)
    up.send_signal(signal.SIGTERM)
    assert up.wait(timeout=120) == 0
    answer = fairclock("query", "SELECT count() AS n FROM gateway_requests FINAL", "--json", dsn=dsn)
    assert int(json.loads(answer.out)["n"]) == 5


def test_a_folder_whose_holder_was_killed_just_works(dsn: str, log: Path, tmp_path: Path) -> None:
    with Worker(dsn, module=HOLDER) as holder:
        holder.ask("SELECT 1")
        everything_works(dsn, log, tmp_path, stored=5)
        holder.kill()
        everything_works(dsn, log, tmp_path, stored=0)


def test_a_server_that_is_away_is_told(log: Path) -> None:
    with socket.socket() as taken:  # who has it does not listen, and nobody else can
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        dsn = f"clickhouse://someone:secret@127.0.0.1:{port}/fairclock"
        answer = fairclock("ingest", "gateway", log, dsn=dsn)
    is_refused(answer, f"127.0.0.1:{port}", "nobody answers")
    assert "secret" not in answer.err


def test_a_server_that_is_something_else_is_told() -> None:
    class_ = "from http.server import *; s = HTTPServer(('127.0.0.1', 0), BaseHTTPRequestHandler)"
    program = f"{class_}; print(s.server_port, flush=True); s.serve_forever()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as other:
        assert other.stdout is not None
        port = int(other.stdout.readline())
        answer = fairclock("query", "SELECT 1", dsn=f"clickhouse://127.0.0.1:{port}/fairclock")
        other.kill()
    is_refused(answer, f"127.0.0.1:{port}")


def test_a_newer_schema_refuses_an_older_program(dsn: str, log: Path) -> None:
    with Worker(dsn, module=HOLDER) as holder:
        holder.ask("INSERT INTO schema_migrations SELECT 9999, 'from_the_future', 'f', now64(6, 'UTC')")
    for words in (["query", "SELECT 1"], ["ingest", "gateway", str(log)], ["evaluate"]):
        is_refused(fairclock(*words, dsn=dsn), "9999")


def _without_the_right_to_write_anywhere() -> None:
    """Give up root's right to ignore permissions, for the program that is started next."""
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP; refused to others than root


@pytest.mark.parametrize("existing", [True, False], ids=["with a store in it", "without one"])
def test_a_folder_that_takes_no_writes_is_told(existing: bool, dsn: str, log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    if existing:
        assert fairclock("ingest", "gateway", log, dsn=dsn).code == 0
    paths = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths if not path.is_symlink()}
    try:
        for path, mode in modes.items():
            path.chmod(mode & ~0o222)
        for words in (["ingest", "gateway", str(log)], ["query", "SELECT 1"]):
            answer = fairclock(*words, dsn=dsn, preexec_fn=_without_the_right_to_write_anywhere)
            is_refused(answer, str(folder), "cannot be written")
    finally:
        for path, mode in modes.items():
            path.chmod(mode)
    assert fairclock("query", "SELECT 1", dsn=dsn).code == 0


def test_a_file_where_the_folder_should_be_is_told(dsn: str, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    is_refused(fairclock("query", "SELECT 1", dsn=dsn), str(tmp_path / "store"), "a file")
