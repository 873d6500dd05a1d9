"""Own what can happen to one request: answered, refused, cut short."""

from __future__ import annotations

from tests.acceptance.traffic import MS, Traffic, traceparent

Said = dict[str, str | None]

LATENCIES_MS = (1, 40, 250, 299, 300, 301, 499, 500, 501, 800, 1500, 1999, 2000, 2001, 2750, 9000)
"""Few values, on and beside the thresholds of the contracts, so that ranks tie and equality decides."""

HOSTS = ("vllm-a", "vllm-b", "vllm-c")


def labels(traffic: Traffic) -> Said:
    """Return what a gateway that knows more than nginx logs about any request."""
    r = traffic.random
    return {
        "tenant": r.choice(("acme", "acme", "acme", "数据公司", "\"'; DROP TABLE requests; --", None)),
        "model": r.choice(("deepseek-v4", "deepseek-v4", "qwen3-8b", None)),
        "region": r.choice(("cn-north", "eu-west", None, None)),
        "uri": r.choice(("/v1/chat/completions", "/v1/chat/completions", "/v1/completions")),
        "stream": r.choice(("true", "1", "false", None)),
        "prompt_tokens": r.choice((None, None, "511", "512", "4000")),
    }


def sequence(traffic: Traffic, *, took_ms: int, forwarded_ms: int) -> dict[str, int]:
    """Return durations that fit into what is left after forwarding."""
    r = traffic.random
    whole = max((took_ms - forwarded_ms) * MS - r.randint(0, 900), 60)
    queue = r.choice((0, 23, whole // 3, whole // 2))
    prefill = (whole - queue) // r.randint(3, 6)
    decode = (whole - queue - prefill) // r.randint(1, 3)
    return {
        "took_us": whole,
        "queue_us": queue,
        "prefill_us": prefill,
        "decode_us": decode,
        "prompt": r.choice((511, 512, 513, 9_000)),
        "completion": r.choice((1, 2, 7, 300)),
    }


def answered(traffic: Traffic, at_us: int) -> None:
    """A request with its span, known by trace, by id, or by both."""
    r = traffic.random
    took, name = r.choice(LATENCIES_MS), traffic.request_id()
    forwarded = r.randint(0, took // 2) if took > 40 else 0
    trace = traffic.hex(32) if r.random() < 0.7 else None
    told = r.random()
    traffic.log(
        received_us=at_us,
        took_ms=took,
        request_id=trace if trace and told < 0.2 else name,
        traceparent=None if trace is None or told < 0.2 else traceparent(trace, traffic.hex(16)),
        upstream_response_time=f"{(took - forwarded) / 1000:.3f}" if r.random() < 0.9 else None,
        connection_requests=r.choice(("1", "2", None)),
        connection_time=f"{(took + r.randint(0, 30)) / 1000:.3f}",
        **labels(traffic),
    )
    if r.random() < 0.06:
        return  # the exporter dropped it
    index = r.choice(("chatcmpl-{}", "cmpl-{}-0"))
    traffic.span(
        instance=r.choice(HOSTS),
        arrived_us=at_us + forwarded * MS + r.randint(0, 300),
        request_id=index.format(name),
        trace=trace if trace is None or r.random() < 0.95 else traffic.hex(32),
        **sequence(traffic, took_ms=took, forwarded_ms=forwarded),
    )


def refused(traffic: Traffic, at_us: int) -> None:
    """No answer from an engine, or none that counts: every line of the table of outcomes."""
    r = traffic.random
    took = r.choice(LATENCIES_MS)
    status, completion, limit = r.choice(
        (
            ("504", "OK", None),
            ("504", "", "REJECTED"),
            ("499", "", None),
            ("000", None, None),
            ("0", "OK", None),
            ("429", "OK", "PASSED"),
            ("503", "OK", "REJECTED"),
            ("503", "OK", "PASSED"),
            ("503", "OK", "REJECTED_DRY_RUN"),
            ("503", None, None),
            ("500", "OK", None),
            ("502", "", None),
            ("444", None, None),
            ("301", "OK", None),
            ("400", "OK", "DELAYED"),
            ("404", None, None),
        )
    )
    kind = r.choice(("limit_req_status", "limit_conn_status"))
    said: Said = {
        "status": status,
        "request_completion": completion,
        kind: limit,
        "error_code": r.choice((None, "QpsExceeded", "Other")) if status in ("503", "500") else None,
        "upstream_addr": None,
        "upstream_response_time": None,
    }
    times = 2 if r.random() < 0.2 else 1
    if times == 2:  # equal bytes in one file are two requests
        said = {key: value or "-" for key, value in said.items()}
        said |= {"request_completion": "OK"}
        said |= dict.fromkeys(("limit_req_status", "limit_conn_status", "upstream_status"), "-")
        said |= {"connection_time": "-", "traceparent": "-", "request_id": "same", "bytes_sent": "7"}
        said |= {key: value or "" for key, value in labels(traffic).items()}
        state = r.getstate()
        for _ in range(2):
            r.setstate(state)
            traffic.log(received_us=at_us, took_ms=took, **said)
        return
    traffic.log(received_us=at_us, took_ms=took, request_id=traffic.request_id(), **said, **labels(traffic))


def cut_short(traffic: Traffic, at_us: int) -> None:
    """2xx that are no `ok`, time-outs and aborts, some of which the engine finished all the same."""
    r = traffic.random
    took, name, trace = r.choice(LATENCIES_MS), traffic.request_id(), traffic.hex(32)
    ways: list[Said] = [
        {"request_completion": ""},
        {"request_completion": "", "incomplete": "1"},
        {"request_completion": None},
        {"substituted": "true", "incomplete": "true"},
        {"substituted": "1", "request_completion": ""},
        {"incomplete": "1"},
        {"incomplete": "false", "substituted": "0"},
        {"status": "499", "substituted": "1"},
        {"status": "504"},
        {"status": "201"},
    ]
    traffic.log(
        received_us=at_us,
        took_ms=took,
        request_id=name,
        traceparent=traceparent(trace, traffic.hex(16)),
        **r.choice(ways),
        **labels(traffic),
    )
    if r.random() < 0.6:
        traffic.span(
            instance=r.choice(HOSTS),
            arrived_us=at_us + r.randint(0, 300),
            request_id=f"chatcmpl-{name}",
            trace=trace,
            **sequence(traffic, took_ms=took, forwarded_ms=0),
        )


def orphan(traffic: Traffic, at_us: int) -> None:
    """A span of nobody's: its request went past this gateway, or its id only looks decorated."""
    name = traffic.request_id()
    decorated = traffic.random.choice((f"chatcmpl-{name}", f"cmpl-{name}-0", f"resp_{name}", ""))
    traffic.span(
        instance="vllm-still",
        arrived_us=at_us,
        request_id=decorated,
        trace=None,
        **sequence(traffic, took_ms=500, forwarded_ms=0),
    )
