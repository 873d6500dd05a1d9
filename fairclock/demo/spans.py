"""Own the engines' side of a simulated run: OTLP trace requests in JSON, as vLLM's exporter fills them.

A request that the engine answered has one ``llm_request`` span; aborted and refused ones have none. Spans are
stamped by the engine host's own clock, which is off by milliseconds to tenths of a second and drifts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from fairclock.demo.course import End
from fairclock.demo.incidents import Mishap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.demo.gateway import Run
    from fairclock.demo.ids import Ids

LOST_RATIO = 0.000_2
"""The exporter's queue drops so many: an answer without a span."""

BROKEN_RATIO = 0.000_05
"""Spans of requests whose scheduling was never stamped: the host's uptime appears as a duration."""

_BATCH_MS = 60_000
_UPTIME_SECONDS = 4_233_901.718
_NS_PER_SECOND = 1_000_000_000


def engine_lines(run: Run, ids: Ids, random: np.random.Generator) -> Iterator[tuple[int, bytes]]:
    """Yield one export request a minute and engine, in order: its time in Unix milliseconds, and the line."""
    traffic, course = run.traffic, run.course
    offsets = random.uniform(0.004, 0.25, len(run.replicas)) * random.choice([-1.0, 1.0], len(run.replicas))
    drifts = random.normal(0.0, 0.002 / 86_400, len(run.replicas))
    lost = random.random(traffic.size) < LOST_RATIO
    broken = random.random(traffic.size) < BROKEN_RATIO
    ends = np.frombuffer(bytes(course.end), dtype=np.uint8)
    exported = np.flatnonzero((ends == End.ANSWERED) & ~lost)
    replica = np.array(course.replica)
    finished = np.array(course.marks.last_token) + traffic.path.answering
    minute = np.zeros(traffic.size, dtype=np.int64)
    minute[exported] = (finished[exported] * 1000.0).astype(np.int64) // _BATCH_MS
    batches = _startup_spans(run)
    writer = _Spans(run, ids, offsets=offsets.tolist(), drifts=drifts.tolist(), finished=finished)
    for number in exported[np.lexsort((finished[exported], replica[exported], minute[exported]))].tolist():
        key = (int(minute[number]), int(replica[number]))
        batches.setdefault(key, []).append(writer.span(number, broken=bool(broken[number])))
    for (at, chosen), spans in sorted(batches.items()):
        head, tail = _envelope(run.replicas[chosen], 4_000 + chosen)
        stamp = traffic.epoch_seconds * 1000 + (at + 1) * _BATCH_MS
        yield stamp, (head + ",".join(spans) + tail).encode()


class _Spans:
    """Write the span of one request."""

    def __init__(
        self,
        run: Run,
        ids: Ids,
        *,
        offsets: list[float],
        drifts: list[float],
        finished: np.ndarray[tuple[int], np.dtype[np.float64]],
    ) -> None:
        self._course = run.course
        self._epoch = run.traffic.epoch_seconds
        self._ids = ids
        self._offsets = offsets
        self._drifts = drifts
        self._finished: list[float] = finished.tolist()
        self._prompt: list[int] = run.traffic.prompt_tokens.tolist()
        self._tokens: list[int] = run.traffic.completion_tokens.tolist()
        tenants = run.traffic.tenants
        decorations = [
            ("chatcmpl-", "") if each.uri.endswith("/chat/completions") else ("cmpl-", "-0")
            for each in tenants
        ]
        self._decorations = decorations
        self._constants = [
            _attribute("gen_ai.request.top_p", 1.0)
            + ","
            + _attribute("gen_ai.request.max_tokens", each.completion.high)
            + ","
            + _attribute("gen_ai.request.n", 1)
            + ","
            + _attribute("fairclock.simulated", value=True)
            for each in tenants
        ]
        self._tenant: list[int] = run.traffic.tenant.tolist()

    def span(self, number: int, *, broken: bool) -> str:
        """Return the JSON of the span; `broken` leaves out the mark `scheduled`, as some engines do."""
        course, marks = self._course, self._course.marks
        arrived, queued = course.arrived[number], course.queued[number]
        scheduled, first, last = marks.scheduled[number], marks.first_token[number], marks.last_token[number]
        replica = course.replica[number]
        host_seconds = self._epoch + arrived + self._offsets[replica] + self._drifts[replica] * arrived
        start_ns = int(host_seconds * _NS_PER_SECOND)
        whole = self._finished[number] - arrived
        end_ns = start_ns + int((whole + 0.000_25) * _NS_PER_SECOND)
        if broken:
            queued, scheduled, first, last = (
                queued + _UPTIME_SECONDS,
                0.0,
                first + _UPTIME_SECONDS,
                last + _UPTIME_SECONDS,
            )
        tenant = self._tenant[number]
        before, after = self._decorations[tenant]
        return (
            f'{{"traceId":"{self._ids.trace[number]}","spanId":"{self._ids.span[number]}","parentSpanId":"{self._ids.parent(number)}",'
            f'"flags":769,"name":"llm_request","kind":2,"startTimeUnixNano":"{start_ns}","endTimeUnixNano":"{end_ns}",'
            f'"attributes":[{{"key":"gen_ai.latency.time_to_first_token","value":{{"doubleValue":{marks.first_token[number] - arrived!r}}}}},'
            f'{{"key":"gen_ai.latency.e2e","value":{{"doubleValue":{whole!r}}}}},'
            f'{{"key":"gen_ai.latency.time_in_queue","value":{{"doubleValue":{scheduled - queued!r}}}}},'
            f'{{"key":"gen_ai.usage.prompt_tokens","value":{{"intValue":"{self._prompt[number]}"}}}},'
            f'{{"key":"gen_ai.usage.completion_tokens","value":{{"intValue":"{self._tokens[number]}"}}}},'
            f'{{"key":"gen_ai.latency.time_in_model_prefill","value":{{"doubleValue":{first - scheduled!r}}}}},'
            f'{{"key":"gen_ai.latency.time_in_model_decode","value":{{"doubleValue":{last - first!r}}}}},'
            f'{{"key":"gen_ai.latency.time_in_model_inference","value":{{"doubleValue":{last - scheduled!r}}}}},'
            f'{{"key":"gen_ai.request.id","value":{{"stringValue":"{before}{self._ids.request[number]}{after}"}}}},'
            f'{self._constants[tenant]}],"status":{{}}}}'
        )


def _attribute(key: str, value: float | str) -> str:
    """Return one attribute; 64-bit integers are strings in OTLP's JSON."""
    kind: dict[str, float | str]
    if isinstance(value, bool):
        kind = {"boolValue": value}
    elif isinstance(value, int):
        kind = {"intValue": str(value)}
    elif isinstance(value, float):
        kind = {"doubleValue": value}
    else:
        kind = {"stringValue": value}
    return json.dumps({"key": key, "value": kind}, separators=(",", ":"))


def _envelope(instance: str, process: int) -> tuple[str, str]:
    """Return what stands before and after an engine's spans in one export request."""
    resource = ",".join(
        _attribute(key, value)
        for key, value in (
            ("telemetry.sdk.language", "python"),
            ("telemetry.sdk.name", "opentelemetry"),
            ("telemetry.sdk.version", "1.39.1"),
            ("service.name", "vllm"),
            ("service.instance.id", instance),
            ("vllm.instrumenting_module_name", "vllm.llm_engine"),
            ("vllm.process_id", process),
        )
    )
    head = f'{{"resourceSpans":[{{"resource":{{"attributes":[{resource}]}},"scopeSpans":['
    return head + '{"scope":{"name":"vllm.llm_engine"},"spans":[', "]}]}]}"


def _startup_spans(run: Run) -> dict[tuple[int, int], list[str]]:
    """Return what an engine exports when it starts again: spans that are no requests."""
    batches: dict[tuple[int, int], list[str]] = {}
    for index, incident in enumerate(run.incidents):
        if incident.mishap is not Mishap.CRASH:
            continue
        up_seconds = incident.at + incident.down_seconds
        end_ns = int((run.traffic.epoch_seconds + up_seconds) * _NS_PER_SECOND)
        where = _attribute("code.function", "Worker.initialize_from_config")
        name = f"{index + 1:04x}{incident.replica + 1:04x}"
        span = (
            f'{{"traceId":"{name * 4}","spanId":"{name * 2}","name":"Allocate KV cache","kind":1,'
            f'"startTimeUnixNano":"{end_ns - 4 * _NS_PER_SECOND}","endTimeUnixNano":"{end_ns}",'
            f'"attributes":[{where}],"status":{{}}}}'
        )
        batches.setdefault((int(up_seconds * 1000) // _BATCH_MS, incident.replica), []).append(span)
    return batches
