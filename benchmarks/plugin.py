"""Own the benchmark of the plugin inside vLLM: what a finished request costs, in the loop and in the process.

The statistics have the shape of vLLM's own classes (vllm/v1/metrics/stats.py); the collector is one that takes
everything at once, so that what is measured is the plugin's.
"""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from benchmarks.measuring import Figure, timed

sys.path.insert(
    0, str(Path(__file__).parents[1] / "inference_probe/plugin")
)  # installed in vLLM's environment only
from fairclock_vllm_plugin.encoding import Envelope
from fairclock_vllm_plugin.engine import EngineSettings
from fairclock_vllm_plugin.reporting import EngineReport
from fairclock_vllm_plugin.sender import Sender
from fairclock_vllm_plugin.transport import Answer

STEPS = 2_000
FINISHED_A_STEP = 8
RUNS = 5
TARGET_US = 20.0


class FinishReason(IntEnum):
    STOP = 0

    def __str__(self) -> str:
        return "stop"


@dataclass
class FinishedRequestStats:
    finish_reason: FinishReason = FinishReason.STOP
    request_id: str | None = None
    e2e_latency: float = 2.5000123
    num_prompt_tokens: int = 1_200
    num_preemptions: int = 0
    num_generation_tokens: int = 340
    max_tokens_param: int | None = 1_024
    queued_time: float = 0.4000001
    prefill_time: float = 0.2500001
    inference_time: float = 2.0500002
    decode_time: float = 1.8000001
    mean_time_per_output_token: float = 0.0053
    is_corrupted: bool = False
    num_cached_tokens: int = 512


@dataclass
class IterationStats:
    iteration_timestamp: float = 1_796_000_000.25
    finished_requests: list[FinishedRequestStats] = field(default_factory=list)


@dataclass
class SchedulerStats:
    num_running_reqs: int = 200
    num_waiting_reqs: int = 17
    num_skipped_waiting_reqs: int = 0
    kv_cache_usage: float = 0.71


class _Taking:
    def post(self, body: bytes, *, timeout_seconds: float) -> Answer:
        del body, timeout_seconds
        return Answer()

    def close(self) -> None:
        pass


def _sender(*, queue_records: int) -> Sender:
    envelope = Envelope({"service.instance.id": "gpu-1:4242"}, scope="fairclock.vllm_plugin", version="0")
    return Sender(_Taking(), envelope, queue_records=queue_records, flush_seconds=0.05, timeout_seconds=1.0)


def _report(sender: Sender) -> EngineReport:
    settings = EngineSettings(model="meta-llama/Llama-3.1-8B-Instruct")
    return EngineReport(sender, settings=settings, rank=0, state_seconds=1.0)


def _steps() -> list[IterationStats]:
    return [
        IterationStats(
            finished_requests=[
                FinishedRequestStats(request_id=f"chatcmpl-{step:016x}{each:016x}")
                for each in range(FINISHED_A_STEP)
            ]
        )
        for step in range(STEPS)
    ]


def figures(folder: Path) -> list[Figure]:
    """Measure the loop's part, its part while the queue is full, and the whole process's."""
    del folder
    requests = STEPS * FINISHED_A_STEP
    steps, scheduler = _steps(), SchedulerStats()

    def in_the_loop(queue_records: int) -> float:
        held: list[EngineReport] = []

        def anew() -> None:
            held[:] = [_report(_sender(queue_records=queue_records))]
            held[0]._sender._thread = threading.current_thread()  # noqa: SLF001 - the loop alone

        def run() -> None:
            record = held[0].record
            for step in steps:
                record(scheduler, step)

        return timed(run, times=RUNS, before=anew).seconds / requests * 1e6

    def in_the_process() -> float:
        durations = []
        for _ in range(RUNS):
            sender = _sender(queue_records=requests + 1)
            report = _report(sender)
            before = time.process_time()
            for step in steps:
                report.record(scheduler, step)
            sender.close(timeout_seconds=60.0)
            durations.append(time.process_time() - before)
        return sorted(durations)[RUNS // 2] / requests * 1e6

    rows = (
        ("in vLLM's loop", in_the_loop(requests + 1)),
        ("in vLLM's loop, collector away and the queue full", in_the_loop(1)),
        ("in the loop and the sending thread together", in_the_process()),
    )
    return [
        Figure(
            what=f"plugin, a finished request: {what}",
            measured=f"{microseconds:.2f} µs",
            target=f"<= {TARGET_US:.0f} µs",
            met=microseconds <= TARGET_US,
        )
        for what, microseconds in rows
    ]
