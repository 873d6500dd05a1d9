"""Every collector at once beside real nginx and real vLLM under load: what arrives, and what it costs."""

import asyncio
import json
import os
import threading
import time
from pathlib import Path

import httpx
import pytest

from fairclock.demo.live.calls import ACME_KEY, BURSTY_KEY, GLOBEX_KEY, plan_calls
from fairclock.demo.live.clients import make_calls
from fairclock.demo.live.engine import make_model, running_engine
from fairclock.demo.live.gateway import METERED_TENANT, running_gateway
from fairclock.demo.live.programs import find_vllm_python, free_port
from tests.gpu.conftest import library  # noqa: F401 - a fixture
from tests.sidecar.running import ANSWERING, Running, eventually, fairclock, figures

pytestmark = pytest.mark.soak

SECONDS = float(os.environ.get("FAIRCLOCK_COLLECT_SECONDS", "600"))
RESULT = os.environ.get("FAIRCLOCK_COLLECT_RESULT")
SAMPLED_EVERY_SECONDS = 5.0
LARGEST_SIDECAR_BYTES = 200_000_000
CALLS_A_ROUND = 60
TENANTS = {ACME_KEY: "acme", GLOBEX_KEY: "globex", BURSTY_KEY: METERED_TENANT}
SPANS = "count() FROM engine_requests FINAL WHERE span_id != ''"
RECORDS = "count() FROM engine_requests FINAL WHERE span_id = ''"
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


class Watch:
    """Look at a process every few seconds: memory, CPU, and that it stays healthy."""

    def __init__(self, pid, url):
        self._pid, self._url = pid, url
        self.memory_bytes, self.unhealthy = [], []
        self._from_seconds, self._began = self._cpu_seconds(), time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _cpu_seconds(self):
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND

    def _run(self):
        while not self._stop.wait(SAMPLED_EVERY_SECONDS):
            pages = int(Path(f"/proc/{self._pid}/statm").read_text().split()[1])
            self.memory_bytes.append(pages * os.sysconf("SC_PAGE_SIZE"))
            for path in ("healthz", "readyz"):
                answer = httpx.get(f"{self._url}/{path}", timeout=60.0, trust_env=False)
                if answer.status_code != httpx.codes.OK:
                    self.unhealthy.append(answer.text)

    def stop(self):
        """End it and return what it cost."""
        self._stop.set()
        self._thread.join()
        elapsed = time.monotonic() - self._began
        return {
            "memory_first_bytes": self.memory_bytes[0],
            "memory_most_bytes": max(self.memory_bytes),
            "memory_last_bytes": self.memory_bytes[-1],
            "cpu_share_of_a_core": (self._cpu_seconds() - self._from_seconds) / elapsed,
        }


def count(dsn, what):
    return int(fairclock("query", f"SELECT {what}", "--format", "TSV", FAIRCLOCK_DSN=dsn))


def test_every_collector_at_once_beside_nginx_and_vllm(tmp_path, library, plugin):  # noqa: F811 - the fixture
    python, vllm = find_vllm_python(None), free_port()
    model = tmp_path / "engine" / "model"
    make_model(python=python, directory=model, output=tmp_path / "model.log")
    log, dsn = tmp_path / "gateway" / "access.log", f"chdb://{tmp_path}/store"
    grpc, http = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    listening = ("--listen", "127.0.0.1:0", "--grpc", "off", "--http", "off")
    with Running("up", *listening, folder=tmp_path, FAIRCLOCK_DSN=dsn) as up:
        up_url = up.says(ANSWERING)[1]
        token = fairclock("tokens", "create", "--scope", "collector", "--name", "all", FAIRCLOCK_DSN=dsn)
        collecting = (
            "collect", "gateway", "otlp", "vllm", "gpu", "--file", log, "--grpc", grpc, "--http", http,
            "--engine", f"http://127.0.0.1:{vllm}/metrics", "--gpu-expect", "2", "--listen", "127.0.0.1:0",
            "--to", up_url, "--spool", tmp_path / "spool",
        )  # fmt: skip
        with Running(
            *collecting, folder=tmp_path, FAIRCLOCK_TOKEN=token, LD_LIBRARY_PATH=str(library.parent)
        ) as sidecar:
            url = sidecar.says(ANSWERING)[1]
            with (
                running_engine(
                    python=python,
                    model=model,
                    directory=tmp_path / "engine",
                    port=vllm,
                    otlp_endpoint=f"http://{grpc}",
                    environment={"PYTHONPATH": str(plugin), "FAIRCLOCK_OTLP_ENDPOINT": f"http://{http}"},
                ) as engine,
                running_gateway(
                    directory=tmp_path / "gateway", port=free_port(), engine_url=engine.url, tenants=TENANTS
                ) as gateway,
            ):
                eventually(
                    lambda: figures(url, trust_env=False).get(
                        f'fairclock_scrape_up{{target="127.0.0.1:{vllm}"}}'
                    ),
                    what=lambda: sidecar.said,
                )
                watches = {"sidecar": Watch(sidecar.pid, url), "up": Watch(up.pid, up_url)}
                began, calls = time.monotonic(), 0
                while time.monotonic() - began < SECONDS:
                    calls += len(asyncio.run(make_calls(gateway.url, plan_calls(CALLS_A_ROUND, seed=calls))))
                cost = {name: watch.stop() for name, watch in watches.items()}
                finished = engine.queue_counter().finished
            # who left before nginx had read the request is in no log
            logged = len(log.read_bytes().splitlines())
            eventually(
                lambda: count(dsn, "count() FROM gateway_requests FINAL") >= logged, what=lambda: sidecar.said
            )
            for reported in (SPANS, RECORDS):
                eventually(
                    lambda reported=reported: count(dsn, reported) >= finished, what=lambda: sidecar.said
                )
            unhealthy = {text for watch in watches.values() for text in watch.unhealthy}
            found = {
                "seconds": SECONDS,
                "load_average": os.getloadavg()[1],
                "calls": calls,
                "logged_by_nginx": logged,
                "gateway_requests": count(dsn, "count() FROM gateway_requests FINAL"),
                "spans": count(dsn, SPANS),
                "records_of_the_plugin": count(dsn, RECORDS),
                "finished_by_vllm": finished,
                "scrapes": count(dsn, "uniqExact(scraped_at) FROM engine_samples"),
                "gpu_seconds": count(dsn, "uniqExact(toStartOfSecond(sampled_at)) FROM gpu_samples"),
                "gpus": count(dsn, "uniqExact(gpu) FROM gpu_samples"),
                "dead_letters": count(dsn, "count() FROM dead_letters FINAL"),
                "unhealthy": sorted(unhealthy),
                **cost,
            }
            assert sidecar.stop() == 0, sidecar.said
        assert up.stop() == 0, up.said
    if RESULT:
        Path(RESULT).write_text(json.dumps(found, indent=2))
    assert found["gateway_requests"] == logged
    assert calls * 0.95 <= logged <= calls
    assert found["spans"] == found["records_of_the_plugin"] == finished
    assert found["dead_letters"] == 0
    assert unhealthy == set()
    assert found["scrapes"] >= SECONDS / 15 * 0.9
    assert found["gpu_seconds"] >= SECONDS * 0.9
    assert found["gpus"] >= 3
    assert cost["sidecar"]["memory_most_bytes"] < LARGEST_SIDECAR_BYTES
