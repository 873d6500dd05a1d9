"""Own the gateway's log of a simulated run: nginx JSON lines as ``escape=json`` writes them.

Every value is a string, and what nginx does not know is empty; ``-`` stands only inside lists of upstreams.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from fairclock.demo.connections import connections_of
from fairclock.demo.course import End
from fairclock.demo.upstreams import Upstreams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.demo.gateway import Run
    from fairclock.demo.ids import Ids

KEYS = (
    "time",
    "request_id",
    "traceparent",
    "tenant",
    "method",
    "uri",
    "status",
    "request_time",
    "request_completion",
    "limit_req_status",
    "limit_conn_status",
    "connection_time",
    "connection_requests",
    "upstream_addr",
    "upstream_status",
    "upstream_connect_time",
    "upstream_header_time",
    "upstream_response_time",
    "x_request_start",
    "request_length",
    "bytes_sent",
    "server",
    "stream",
    "model",
    "region",
    "simulated",
)
"""The keys of a line, in order: those of the shipped snippet, and what this gateway knows beside."""

STATUS = {
    End.ANSWERED: 200,
    End.LEFT_EARLY: 499,
    End.LEFT_MIDSTREAM: 200,
    End.TIMED_OUT: 504,
    End.LIMITED: 503,
    End.MALFORMED: 400,
    End.ENGINE_FULL: 503,
    End.UNREACHABLE: 502,
    End.CUT: 200,
}
_OK = 200
_LEFT = 499
_ERROR_BYTES = 320
_CLOSING_RATIO = 0.02
_REGION = "cn-north"
_SERVER = "llm.example.cn"


def gateway_lines(run: Run, ids: Ids, random: np.random.Generator) -> Iterator[tuple[int, bytes]]:
    """Yield the log in order of the requests' ends: the end in Unix milliseconds, and the line without newline."""
    traffic, course = run.traffic, run.course
    received = traffic.received_seconds
    # nginx truncates both instants to milliseconds before it subtracts them
    epoch_ms = traffic.epoch_seconds * 1000
    received_ms = (np.floor(received * 1000.0).astype(np.int64) + epoch_ms).tolist()
    responded_ms = (np.floor(np.array(course.responded) * 1000.0).astype(np.int64) + epoch_ms).tolist()
    tenant = traffic.tenant.tolist()
    ages, counts = connections_of(
        tenant=tenant,
        received_ms=received_ms,
        responded_ms=responded_ms,
        handshake_ms=(2 + random.exponential(12.0, traffic.size)).astype(np.int64).tolist(),
        closes=(random.random(traffic.size) < _CLOSING_RATIO).tolist(),
    )
    heads, tails = _constants(run)
    prompt = traffic.prompt_tokens.tolist()
    tokens = np.where(
        traffic.leaves_midstream, traffic.leaves_after_tokens, traffic.completion_tokens
    ).tolist()
    stream = traffic.stream.tolist()
    upstreams = Upstreams(run)
    for number in sorted(range(traffic.size), key=responded_ms.__getitem__):
        end_ms = responded_ms[number]
        end = End(course.end[number])
        elapsed_ms = end_ms - received_ms[number]
        status = STATUS[end]
        sent = _ERROR_BYTES
        streamed = ""  # known from the answer's content type; an error's says nothing
        if status == _OK:
            streamed = "true" if stream[number] else "false"
            sent = 210 + 236 * tokens[number] if stream[number] else 540 + 4 * tokens[number]
        elif status == _LEFT:
            sent = 0
        who = tenant[number]
        trace = ids.trace[number]
        yield (
            end_ms,
            (
                f'{{"time":"{end_ms // 1000}.{end_ms % 1000:03d}","request_id":"{ids.request[number]}",'
                f'"traceparent":"00-{trace}-{ids.parent(number)}-01",{heads[who]}'
                f'"status":"{status}","request_time":"{elapsed_ms // 1000}.{elapsed_ms % 1000:03d}",'
                f'"request_completion":"{"" if end in _UNCOMPLETED else "OK"}",'
                f'"limit_req_status":"{"REJECTED" if end is End.LIMITED else "PASSED"}",'
                f'"limit_conn_status":"",'
                f'"connection_time":"{ages[number] // 1000}.{ages[number] % 1000:03d}",'
                f'"connection_requests":"{counts[number]}",{upstreams.fields(number, end)},'
                f'"x_request_start":"","request_length":"{640 + 4 * prompt[number]}","bytes_sent":"{sent}",'
                f'"server":"{_SERVER}","stream":"{streamed}",{tails[who]}'
            ).encode(),
        )


_UNCOMPLETED = {End.LEFT_EARLY, End.LEFT_MIDSTREAM}


def _constants(run: Run) -> tuple[list[str], list[str]]:
    """Return what is the same in all lines of a tenant, before and after what is not."""

    def pairs(**values: str) -> str:
        return "".join(f'"{key}":{json.dumps(value, ensure_ascii=False)},' for key, value in values.items())

    tenants = run.traffic.tenants
    heads = [pairs(tenant=each.name, method="POST", uri=each.uri) for each in tenants]
    tails = [pairs(model=each.model, region=_REGION, simulated="1")[:-1] + "}" for each in tenants]
    return heads, tails
