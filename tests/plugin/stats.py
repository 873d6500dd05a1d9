"""Statistics in the shape of vLLM's own classes, and a collector in memory."""

import threading
from dataclasses import dataclass, field
from enum import IntEnum
from types import SimpleNamespace

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from collectors.otlp.protobuf_logs import decode_log_protobuf
from fairclock_vllm_plugin.encoding import Envelope
from fairclock_vllm_plugin.sender import Sender
from fairclock_vllm_plugin.transport import Answer

AT = 1_796_000_000.25
TAKEN, AWAY, REFUSED = Answer(), Answer(problem="away", again=True), Answer(problem="HTTP 400")


class FinishReason(IntEnum):
    STOP = 0
    ABORT = 2

    def __str__(self):
        return self.name.lower()


@dataclass
class FinishedRequestStats:
    finish_reason: FinishReason = FinishReason.STOP
    request_id: str | None = "chatcmpl-r1"
    e2e_latency: float = 2.5
    num_prompt_tokens: int = 1_200
    num_preemptions: int = 1
    num_generation_tokens: int = 340
    max_tokens_param: int | None = 1_024
    queued_time: float = 0.4
    prefill_time: float = 0.25
    inference_time: float = 2.05
    decode_time: float = 1.8
    mean_time_per_output_token: float = 0.0053
    is_corrupted: bool = False
    num_cached_tokens: int = 512


@dataclass
class IterationStats:
    finished_requests: list = field(default_factory=list)
    iteration_timestamp: float = AT


@dataclass
class SchedulerStats:
    num_running_reqs: int = 2
    num_waiting_reqs: int = 3
    num_skipped_waiting_reqs: int = 1
    kv_cache_usage: float = 0.5


def step(*ids):
    return IterationStats([FinishedRequestStats(request_id=each) for each in ids])


def vllm_config(**changes):
    given = {
        "parallel_config": SimpleNamespace(tensor_parallel_size=4, pipeline_parallel_size=2, data_parallel_size=2),
        "device_config": SimpleNamespace(device_type="cuda"),
        "scheduler_config": SimpleNamespace(max_num_seqs=256, max_num_batched_tokens=8192),
        "cache_config": SimpleNamespace(num_gpu_blocks=1000, block_size=16),
        "model_config": SimpleNamespace(served_model_name="llama", max_model_len=4096),
    }  # fmt: skip
    return SimpleNamespace(**given | changes)


class Collector:
    """Takes what is posted, or answers otherwise; `reached` is set by every request."""

    def __init__(self):
        self.answer = TAKEN
        self.bodies = []
        self.posts = 0
        self.reached = threading.Event()
        self.gate = threading.Event()
        self.gate.set()

    def post(self, body, *, timeout_seconds):
        self.posts += 1
        self.reached.set()
        if not self.gate.wait(timeout=120):
            raise AssertionError("the gate stayed shut")
        if not self.answer.problem:
            self.bodies.append(body)
        return self.answer

    def close(self):
        pass

    @property
    def records(self):
        """The attributes of every record that was taken, in order."""
        found = []
        for body in self.bodies:
            for resource_logs in ExportLogsServiceRequest.FromString(body).resource_logs:
                found += [
                    {each.key: plain(each.value) for each in record.attributes}
                    for record in resource_logs.scope_logs[0].log_records
                ]
        return found

    def of(self, event):
        return [each for each in self.records if each["event.name"] == event]

    @property
    def ids(self):
        return [each.get("gen_ai.request.id") for each in self.of("fairclock.request.finished")]

    @property
    def lines(self):
        return [line for body in self.bodies for line in decode_log_protobuf(body).lines]


def plain(value):
    return getattr(value, value.WhichOneof("value"))


class Times:
    """A clock that is set by hand."""

    def __init__(self):
        self.seconds = 1_000.0

    def __call__(self):
        return self.seconds


def make_sender(collector, **changes):
    given = {"queue_records": 1_000, "flush_seconds": 0.005, "timeout_seconds": 1.0, "jitter": lambda: 1.0}
    envelope = Envelope({"service.instance.id": "gpu-1:9"}, scope="fairclock.vllm_plugin", version="0")
    return Sender(collector, envelope, **given | changes)
