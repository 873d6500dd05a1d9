"""Own what can happen to requests: every kind of pair, quarrel and accident that the documents speak of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.acceptance.traffic import MS, SECOND, Traffic, traceparent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LATENCIES_MS = (1, 40, 250, 299, 300, 301, 499, 500, 501, 800, 1500, 1999, 2000, 2001, 2750, 9000)
"""Few values, on and beside the thresholds of the contracts, so that ranks tie and equality decides."""

HOSTS = ("vllm-a", "vllm-b", "vllm-c")


def labels(traffic: Traffic) -> dict[str, str | None]:
    """Return what a gateway that knows more than nginx logs about any request."""
    r = traffic.random
    return {
        "tenant": r.choice(("acme", "acme", "acme", "数据公司", '"\'; DROP TABLE requests; --', None)),
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
    said: dict[str, str | None] = {
        "status": status,
        "request_completion": completion,
        kind: limit,
        "error_code": r.choice((None, "QpsExceeded", "Other")) if status in ("503", "500") else None,
        "upstream_addr": None,
        "upstream_response_time": None,
    }
    times = 2 if r.random() < 0.2 else 1
    if times == 2:  # equal bytes in one file are two requests
        said = {key: value or "-" for key, value in said.items()} | {"request_completion": "OK"}
        said |= dict.fromkeys(("limit_req_status", "limit_conn_status", "upstream_status"), "-")
        said |= {"connection_time": "-", "traceparent": "-", "request_id": "same", "bytes_sent": "7"}
        said |= {key: value or "" for key, value in labels(traffic).items()}
        state = r.getstate()
        for _ in range(2):
            r.setstate(state)
            traffic.log(received_us=at_us, took_ms=took, **said)
        return
    traffic.log(
        received_us=at_us, took_ms=took, request_id=traffic.request_id(), **said, **labels(traffic)
    )


def cut_short(traffic: Traffic, at_us: int) -> None:
    """2xx that are no `ok`, time-outs and aborts, some of which the engine finished all the same."""
    r = traffic.random
    took, name, trace = r.choice(LATENCIES_MS), traffic.request_id(), traffic.hex(32)
    said: dict[str, str | None] = r.choice(
        (
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
        )
    )
    traffic.log(
        received_us=at_us,
        took_ms=took,
        request_id=name,
        traceparent=traceparent(trace, traffic.hex(16)),
        **said,
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


def several_sequences(traffic: Traffic, at_us: int) -> None:
    """Several prompts in one call (indices), or several answers to one prompt (equal indices)."""
    r = traffic.random
    took, name = r.choice(LATENCIES_MS[2:]), traffic.request_id()
    trace = traffic.hex(32) if r.random() < 0.5 else None
    traffic.log(
        received_us=at_us,
        took_ms=took,
        request_id=name,
        traceparent=None if trace is None else traceparent(trace, traffic.hex(16)),
        **labels(traffic),
    )
    host, arrived = r.choice(HOSTS), at_us + r.randint(0, 300)
    equal, several = r.random() < 0.3, r.randint(2, 4)
    for index, place in enumerate(r.sample(range(several), several)):
        each = sequence(traffic, took_ms=took, forwarded_ms=0)
        each["took_us"] = took * MS - 1_000 - place * 37  # no two finish in the same microsecond
        if equal:
            each["prompt"] = 511
        traffic.span(
            instance=host,
            arrived_us=arrived if equal else arrived + index * 11,
            request_id=f"chatcmpl-{name}" if equal else f"cmpl-{name}-{index}",
            trace=trace,
            **each,
        )


def retried(traffic: Traffic, at_us: int) -> None:
    """A gateway that asks two or three upstreams; some of them leave a span, one of those maybe impossible."""
    r = traffic.random
    name, tries = traffic.request_id(), r.randint(2, 3)
    took = r.choice((1500, 1999, 2000, 2001, 2750, 9000))
    trace = traffic.hex(32) if r.random() < 0.6 else None
    rests = [took - number * (took // (tries + 1)) for number in range(tries)]  # left at each start
    separators = r.choices((", ", " : "), k=tries)

    def listed(values: list[str]) -> str:
        return "".join(
            (separators[place] if place else "") + value for place, value in enumerate(values)
        )

    spent = [str(took // (tries + 1) / 1000) if r.random() < 0.7 else "-" for _ in rests[:-1]]
    traffic.log(
        received_us=at_us,
        took_ms=took,
        request_id=name,
        traceparent=None if trace is None else traceparent(trace, traffic.hex(16)),
        upstream_addr=listed([f"10.0.0.{number}:8000" for number in range(1, tries + 1)]),
        upstream_status=listed(["502"] * (tries - 1) + ["200"]),
        upstream_response_time=listed([*spent, f"{rests[-1] / 1000:.3f}"]),
        **labels(traffic),
    )
    for number, rest in enumerate(rests):
        last = number == tries - 1
        if not last and r.random() < 0.4:
            continue
        share = 3 if last else 2  # so that all queues and the last engine's time fit into the request's
        each = sequence(traffic, took_ms=(rest - 100) // share, forwarded_ms=0)
        if not last and r.random() < 0.2:
            each["prefill_us"] = 4_233_901_000_000
        traffic.span(
            instance=r.choice(HOSTS) if trace else HOSTS[number],
            arrived_us=at_us + (took - rest) * MS + r.randint(0, 300),
            request_id=f"chatcmpl-{name}" if r.random() < 0.5 else f"cmpl-{name}-0",
            trace=trace,
            **each,
        )


def repeated_id(traffic: Traffic, at_us: int) -> None:
    """Requests of one id: far apart, close, and so close that nobody can tell; never quite tied."""
    r = traffic.random
    name = r.choice(("order-7", "order-8", traffic.request_id()))
    gap_us = r.choice((1, 2, 3, 6, 10, 11, 3_000, 700_000)) * MS
    took = r.choice(LATENCIES_MS[1:])
    for number in range(2):
        traffic.log(
            received_us=at_us + number * gap_us, took_ms=took, request_id=name, **labels(traffic)
        )
    choice = r.random()
    arrivals = {0.5: [7], 0.8: [7, gap_us + 7], 1.0: [r.choice((gap_us // 2 - 1_000, gap_us // 2 - 1_001))]}
    for lead in next(leads for limit, leads in arrivals.items() if choice <= limit):
        traffic.span(
            instance="vllm-still",
            arrived_us=at_us + lead,
            request_id=f"cmpl-{name}-0" if r.random() < 0.5 else f"chatcmpl-{name}",
            **sequence(traffic, took_ms=took, forwarded_ms=0),
        )


def evicted(traffic: Traffic, at_us: int) -> None:
    """A trace takes its request out of the reach of rows that only share its id; traces repeat, too."""
    r = traffic.random
    name, trace, took = traffic.request_id(), traffic.hex(32), r.choice(LATENCIES_MS[3:])
    traffic.log(
        received_us=at_us,
        took_ms=took,
        request_id=name,
        traceparent=traceparent(trace, traffic.hex(16)),
        **labels(traffic),
    )
    again = r.random() < 0.4
    traffic.log(
        received_us=at_us + 200 * MS,
        took_ms=took,
        request_id=name,
        traceparent=traceparent(trace, traffic.hex(16)) if again else None,
        **labels(traffic),
    )
    for number, known in enumerate((trace, trace if again else None)):
        traffic.span(
            instance="vllm-a",
            arrived_us=at_us + number * (200 * MS if again else 20 * MS) + r.randint(0, 300),
            request_id=f"chatcmpl-{name}",
            trace=known,
            **sequence(traffic, took_ms=took, forwarded_ms=0),
        )


def impossible(traffic: Traffic, at_us: int) -> None:
    """Spans that cannot be, and spans that just can: 2 ms is what a gateway's milliseconds hide."""
    r = traffic.random
    took, name, trace = r.choice(LATENCIES_MS[3:]), traffic.request_id(), traffic.hex(32)
    traffic.log(
        received_us=at_us,
        took_ms=took,
        request_id=name,
        traceparent=traceparent(trace, traffic.hex(16)),
        **labels(traffic),
    )
    each = sequence(traffic, took_ms=took, forwarded_ms=0)
    phases = each["queue_us"] + each["prefill_us"] + each["decode_us"]
    changes = r.choice(
        (
            {"prefill_us": 4_233_901_718_000},
            {"queue_us": -1},
            {"queue_us": -1_165_000_000},
            {"prefill_us": -1},
            {"decode_us": -3},
            {"took_us": phases - 2_000},
            {"took_us": phases - 2_001},
            {"took_us": took * MS + 2_000},
            {"took_us": took * MS + 2_001},
            {"queue_us": 0, "prefill_us": 0, "decode_us": 0},
        )
    )
    traffic.span(
        instance=r.choice(HOSTS),
        arrived_us=at_us + r.randint(0, 300),
        request_id=f"chatcmpl-{name}",
        trace=trace,
        **(each | changes),
    )


def orphan(traffic: Traffic, at_us: int) -> None:
    """A span of nobody's: its request went past this gateway, or its id only looks decorated."""
    name = traffic.request_id()
    decorated = traffic.random.choice((f"chatcmpl-{name}", f"cmpl-{name}-0", f"resp_{name}", ""))
    traffic.span(
        instance="vllm-still",
        arrived_us=at_us,
        request_id=decorated,
        **sequence(traffic, took_ms=500, forwarded_ms=0),
    )


SCENES: dict[Callable[[Traffic, int], None], int] = {
    answered: 50,
    refused: 12,
    cut_short: 12,
    several_sequences: 6,
    retried: 6,
    repeated_id: 8,
    evicted: 3,
    impossible: 5,
    orphan: 2,
}


def fill(traffic: Traffic, *, start_us: int, end_us: int, scenes: int, moments: Sequence[int] = ()) -> None:
    """Let `scenes` things happen in `[start, end)` and a little around it: in bursts, at edges, at `moments`."""
    r = traffic.random
    kinds, weights = list(SCENES), list(SCENES.values())
    edges = [start_us, start_us - MS, start_us + MS, end_us - MS, end_us, end_us - 2 * MS, end_us + MS]
    hours = [instant - instant % (3_600 * SECOND) for instant in (start_us, (start_us + end_us) // 2)]
    bursts = [r.randrange(start_us - 3_600 * SECOND, end_us + 3_600 * SECOND) for _ in range(scenes // 25)]
    for edge in edges:
        answered(traffic, edge)
        refused(traffic, edge)
    while scenes > 0:
        scenes -= 1
        near = r.choice((r.choice(bursts), r.choice(bursts), r.choice(hours), r.choice(edges)))
        at = near + r.randint(-20, 20) * SECOND + r.randint(0, 999) * MS
        if moments and r.random() < 0.15:
            at = r.choice(moments) + r.choice((-3_600, -1_800, -900, 0, 900, 1_800, 3_600)) * SECOND
            at += r.choice((-1, 0, 1)) * MS if r.random() < 0.3 else r.randint(-900_000, 900_000) * MS
        r.choices(kinds, weights)[0](traffic, at - at % MS)
