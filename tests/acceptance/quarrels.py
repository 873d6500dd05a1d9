"""Own what can happen between requests and engine rows: retries, sequences, repeated ids, impossible durations."""

from __future__ import annotations

from tests.acceptance.scenes import HOSTS, LATENCIES_MS, labels, sequence
from tests.acceptance.traffic import MS, Traffic, traceparent


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
        return "".join((separators[place] if place else "") + value for place, value in enumerate(values))

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
        traffic.log(received_us=at_us + number * gap_us, took_ms=took, request_id=name, **labels(traffic))
    choice = r.random()
    arrivals = {0.5: [7], 0.8: [7, gap_us + 7], 1.0: [r.choice((gap_us // 2 - 1_000, gap_us // 2 - 1_001))]}
    for lead in next(leads for limit, leads in arrivals.items() if choice <= limit):
        traffic.span(
            instance="vllm-still",
            arrived_us=at_us + lead,
            request_id=f"cmpl-{name}-0" if r.random() < 0.5 else f"chatcmpl-{name}",
            trace=None,
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
