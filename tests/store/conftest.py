"""A real embedded store for each test of this folder; one engine folder a process, so each test gets a fresh database in it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from fairclock.model import Interval
from fairclock.store import LineBatch, Query, open_store

HOUR = datetime(2026, 10, 7, 3, tzinfo=UTC)
DAY = Interval(start=datetime(2026, 10, 7, tzinfo=UTC), end=datetime(2026, 10, 8, tzinfo=UTC))


def gateway_line(at_seconds: float = 0.0, **changes: object) -> bytes:
    """One nginx JSON line of a request received `at_seconds` after HOUR, as long as `request_time` says."""
    keys: dict[str, object] = {
        "request_id": "r1",
        "traceparent": "-",
        "tenant": "acme",
        "method": "POST",
        "uri": "/v1/chat/completions",
        "status": "200",
        "request_time": "2.000",
        "request_completion": "OK",
        "limit_req_status": "",
        "limit_conn_status": "",
        "upstream_addr": "10.0.0.1:8000",
        "upstream_status": "200",
        "upstream_response_time": "1.990",
        "server": "gw",
    }
    keys.update(changes)
    end = HOUR.timestamp() + at_seconds + float(str(keys["request_time"]))
    return json.dumps({"time": f"{end:.3f}", **keys}, ensure_ascii=False).encode()


def engine_line(at_seconds: float = 0.01, **changes: object) -> bytes:
    """One canonical engine line of a request that arrived `at_seconds` after HOUR."""
    start_ns = int(HOUR.timestamp()) * 10**9 + round(at_seconds * 10**9)
    keys: dict[str, object] = {
        "trace_id": "",
        "span_id": "00f067aa0ba902b7",
        "start_ns": str(start_ns),
        "end_ns": str(start_ns + 1_900_000_000),
        "instance": "engine-a",
        "request_id": "chatcmpl-r1",
        "e2e": 1.9,
        "queue": 0.4,
        "prefill": 0.3,
        "decode": 1.1,
        "inference": 1.4,
        "ttft": 0.75,
        "prompt_tokens": 100,
        "completion_tokens": 50,
    }
    keys.update(changes)
    return json.dumps({key: value for key, value in keys.items() if value is not None}).encode()


def traced(number: int) -> dict[str, str]:
    """The gateway's keys of a request with its own trace."""
    return {"traceparent": f"00-{number:032x}-{number:016x}-01"}


TABLES = (
    "gateway_requests",
    "engine_requests",
    "engine_states",
    "dead_letters",
    "covered",
    "requests",
    "seals",
    "seal_confirmations",
)


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    """One embedded store for a module: opening one costs more than most tests."""
    with open_store(f"chdb://{tmp_path_factory.mktemp('store') / 'store'}") as opened:
        yield opened


@pytest.fixture
def store(shared_store):
    """An empty embedded store."""
    for table in TABLES:
        shared_store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return shared_store


class Books:
    """Reads a store back."""

    def __init__(self, store):
        self.store = store

    def feed(self, gateway=(), engine=(), *, k=0):
        counts = []
        for kind, lines in (("gateway", gateway), ("engine", engine)):
            if lines:
                counts.append(self.store.ingest(LineBatch(kind=kind, source="test", lines=list(lines), k=k)))
        return counts

    def requests(self, *columns, window=DAY, as_of=None, order="received_at, request_id, end_to_end_us"):
        as_of = as_of or self.store.watermark()
        query = self.store.requests_as_of(window, as_of)
        names = ", ".join(columns) or "*"
        return self.store.rows(
            Query(sql=f"SELECT {names} FROM ({query.sql}) ORDER BY {order}", parameters=query.parameters)
        )

    def digest(self, window=DAY, as_of=None):
        as_of = as_of or self.store.watermark()
        query = self.store.requests_as_of(window, as_of)
        return self.store.rows(
            Query(
                sql=f"SELECT count(), sum(sipHash64(tuple(*))) FROM ({query.sql})",
                parameters=query.parameters,
            )
        )[0]

    def scalar(self, sql, **parameters):
        return self.store.rows(Query(sql=sql, parameters=parameters))[0][0]


@pytest.fixture
def books(store):
    return Books(store)


def later(seconds: float) -> datetime:
    return HOUR + timedelta(seconds=seconds)
