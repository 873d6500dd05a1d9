"""GPUs on the command line: collect, up with invented ones, doctor; each a process over the stand-in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import httpx
import pytest

from collectors.gpu.nvml import library as library_module
from fairclock.cli.configuration import Configuration
from fairclock.cli.diagnosis.gpus import gpu_findings
from fairclock.cli.pipeline.gpus import make_gpu_collector, named
from fairclock.errors import UsageError

from .conftest import GPU_1, MIG_0, eventually

OFF = ("--grpc", "off", "--http", "off", "--quiet")


@contextmanager
def running(*words, library, dsn, log, **variables):
    environment = {**os.environ, "FAIRCLOCK_DSN": dsn, "LD_LIBRARY_PATH": str(library.parent), **variables}
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "fairclock", *words], env=environment, stderr=stderr, stdout=stderr
        )
    try:
        yield process
        process.send_signal(signal.SIGTERM)
        assert process.wait(300) == 0, log.read_text()
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def dsn(tmp_path):
    return f"chdb://{tmp_path}/store"


def query(dsn, sql):
    done = subprocess.run(
        [sys.executable, "-m", "fairclock", "query", "--dsn", dsn, "--format", "JSONEachRow", sql],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def answer_of(log, path):
    """Ask the address that the command says it answers at."""
    found = [line for line in log.read_text().splitlines() if line.startswith("answering on ")]
    return httpx.get(found[0].split()[-1] + path, timeout=300.0, trust_env=False) if found else None


def figures_of(log):
    answer = answer_of(log, "/metrics")
    lines = answer.text.splitlines() if answer is not None else []
    return dict(line.rsplit(" ", 1) for line in lines if line.startswith("fairclock_gpu"))


def test_collect_gpu_stores_rows_and_events_and_shows_what_was_lost(library, dsn, tmp_path):
    log = tmp_path / "log"
    with running(
        "collect", "gpu", "--gpu-expect", "2", "--listen", "127.0.0.1:0", library=library, dsn=dsn, log=log,
        STANDIN_LOSE_AFTER="1500", STANDIN_XIDS="2",
    ):  # fmt: skip
        eventually(lambda: figures_of(log).get("fairclock_gpus_lost") == "1.0", seconds=300)
        figures = figures_of(log)
        assert (figures["fairclock_gpus_expected"], figures["fairclock_gpus_visible"]) == ("2.0", "1.0")
        assert (figures["fairclock_gpu_instances"], figures["fairclock_gpu_measuring"]) == ("2.0", "0.0")
        ready = answer_of(log, "/readyz")
        assert ready.status_code == 503
        assert ready.json()["checks"]["gpus"] == "1 of 2 expected GPUs are visible"
        lines = float(figures["fairclock_gpu_lines_total"])
        eventually(lambda: float(figures_of(log)["fairclock_gpu_lines_total"]) > lines + 4, seconds=300)
    states = query(dsn, "SELECT gpu, state, count() AS n FROM gpu_samples FINAL GROUP BY gpu, state")
    assert {(row["gpu"], row["state"]) for row in states} >= {(GPU_1, "ok"), (GPU_1, "lost"), (MIG_0, "ok")}
    events = query(
        dsn, "SELECT event, code FROM gpu_events FINAL WHERE event IN ('xid', 'lost') ORDER BY event"
    )
    assert [(row["event"], row["code"]) for row in events] == [("lost", None), ("xid", 79), ("xid", 79)]
    (covered,) = query(dsn, "SELECT DISTINCT kind FROM covered")
    assert covered["kind"] == "gpu"


def test_up_invents_gpus_that_say_so(library, dsn, tmp_path):
    log = tmp_path / "log"
    listen = ("--listen", "127.0.0.1:0")
    with running("up", "--demo-gpu", *OFF[:-1], *listen, library=library, dsn=dsn, log=log):
        eventually(lambda: float(figures_of(log).get("fairclock_gpu_lines_total", 0)) >= 6, seconds=300)
        assert answer_of(log, "/readyz").json()["checks"]["gpus"] == "ok"
    (found,) = query(
        dsn,
        "SELECT count() > 0 AS some, min(simulated) AS simulated, uniqExact(gpu) AS gpus FROM gpu_samples FINAL",
    )
    assert {name: int(value) for name, value in found.items()} == {"some": 1, "simulated": 1, "gpus": 2}


def test_ingest_reads_what_nvidia_smi_wrote(dsn, tmp_path):
    path = tmp_path / "gpus.csv"
    path.write_text("timestamp, uuid, utilization.gpu [%]\n2026/10/07 11:00:00.000, GPU-a, 45 %\nx\n")

    def ingest(*words):
        return subprocess.run(
            [sys.executable, "-m", "fairclock", "ingest", "metrics", str(path), "--dsn", dsn, "--json", *words],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    done = ingest("--format", "nvidia-smi", "--zone", "Asia/Shanghai")
    assert json.loads(done.stdout) == {
        "read": 2,
        "stored": 1,
        "duplicates": 0,
        "ignored": 0,
        "dead_letters": 1,
    }
    (row,) = query(dsn, "SELECT sampled_at, source FROM gpu_samples")
    assert (row["sampled_at"][:19], row["source"]) == ("2026-10-07 03:00:00", "gpu")
    for words, message in (((), "say in which zone"), (("--zone", "Mars/Base"), "no such zone")):
        refused = ingest("--format", "nvidia-smi", *words)
        assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr


def settings(**section):
    return Configuration.model_validate({"gpu": section}).gpu


def finding(**section):
    (found,) = gpu_findings(settings(**section))
    return found.state, found.detail


def test_doctor_says_what_it_sees_and_what_is_missing(nvml, standin):
    assert list(gpu_findings(settings())) == []
    assert finding(source="nvml", expect=2) == ("ok", "NVML, driver 999.01, 2 of 2 expected GPUs")
    standin.standin_devices(0)
    assert finding(source="nvml") == ("error", "NVML, driver 999.01, 0 of 1 expected GPUs")
    standin.standin_driver(0)
    assert finding(source="nvml") == ("error", "NVML: Driver Not Loaded")
    assert finding(source="nvidia-smi", command="no-such-program")[0] == "error"
    assert finding(source="dcgm", urls=["http://127.0.0.1:9"])[0] == "error"


def test_without_the_binding_the_command_says_which_extra_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(UsageError, match=r"fairclock\[gpu\]"):
        library_module.load_binding()


def test_without_the_library_the_command_waits_and_says_what_is_missing(dsn, tmp_path):
    log, no_library = tmp_path / "log", tmp_path / "libnvidia-ml.so.1"
    no_library.write_text("also where this machine has one, this is found first")
    with running("collect", "gpu", "--listen", "127.0.0.1:0", library=no_library, dsn=dsn, log=log):
        said = eventually(
            lambda: (answer := answer_of(log, "/readyz")) is not None
            and "Library Not Found" in (text := answer.json()["checks"]["gpus"]) and text,
            seconds=300,
        )  # fmt: skip
        assert said.startswith("0 of 1 expected GPUs are visible: ")


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"source": "dcgm"}, "dcgm needs the exporters' addresses"),
        ({"source": "dcgm", "urls": ["node:9400"]}, "gpu.urls holds what is no address"),
        ({"source": "nvml", "samples_per_second": 11}, "less than or equal to 10"),
        ({"source": "nvml", "expect": -1}, "greater than or equal to 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(section, message):
    with pytest.raises(ValueError, match=message):
        settings(**section)


@pytest.mark.parametrize("source", ["nvml", "dcgm", "nvidia-smi", "demo"])
def test_every_source_can_be_made(source, nvml):
    section = settings(source=source, urls=["http://node:9400"])
    collector = make_gpu_collector(section, lambda frames: None)
    assert collector.problem().startswith("0 of 1")
    assert named(settings()).source == "nvml"
    assert named(section) is section
