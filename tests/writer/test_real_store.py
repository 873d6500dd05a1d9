"""From a receiver through the spool into the real store, and again, and with a poisonous row."""

import json

import httpx
import pytest

from collectors.otlp.committing import FORMAT
from collectors.otlp.receiver import OtlpReceiver
from exporters.clickhouse import Writer, lines_of
from exporters.spool import Spool
from fairclock.model import Frame
from fairclock.store import LineBatch, Query, open_store
from tests.collectors.otlp_requests import START_NS, good_span, request_of

ADAPTERS = {"nginx-json": lines_of, FORMAT: lines_of}
SECRET = b"the-customer's-secret-prompt"


@pytest.fixture(scope="module")
def dsn(tmp_path_factory):
    return f"chdb://{tmp_path_factory.mktemp('real')}/store"


def request_line(number, **changes):
    fields = {
        "time": f"{START_NS // 10**9 + number}.500", "request_id": f"{number:032x}", "status": "200",
        "request_time": "0.400", "request_completion": "OK", "uri": "/v1/chat/completions", "method": "POST",
    }  # fmt: skip
    return json.dumps({**fields, **changes}).encode()


def written(spool, dsn):
    """Write all that waits into the store at `dsn` and return the writer's statistics."""
    writer = Writer(spool, lambda: open_store(dsn), adapters=ADAPTERS)
    writer.start()
    writer.stop(grace_seconds=300)
    assert spool.statistics(0).frames_waiting == 0
    return writer.statistics()


def test_what_is_received_and_tailed_ends_up_in_the_store_once(tmp_path, dsn):
    lines = [request_line(number) for number in range(300)]
    lines += [lines[7], b"no request " + SECRET, b""]
    now_us = START_NS // 1000
    frame = Frame(
        kind="gateway", format="nginx-json", source="edge", generation="8:15", offset=0,
        payload=b"\n".join(lines) + b"\n", repeats=((300, 1),), covered=(now_us, now_us + 300_000_000),
    )  # fmt: skip
    request = request_of(*(good_span(number) for number in range(100)), good_span(7, trace_id=b"short"))
    for _ in range(2):  # whatever is delivered again adds nothing
        with Spool(tmp_path / "spool", limit_bytes=1 << 30) as spool:
            with OtlpReceiver(spool.append, None, "127.0.0.1:0", source="engines") as receiver:
                answer = httpx.post(
                    f"http://{receiver.http_address}/v1/traces",
                    content=request.SerializeToString(),
                    headers={"Content-Type": "application/x-protobuf"},
                    timeout=120,
                )
                assert answer.status_code == 200
            spool.append([frame])
            statistics = written(spool, dsn)
    assert statistics.counts["gateway", "edge"].duplicates == 301
    with open_store(dsn) as store:
        assert store.rows(
            Query(sql="SELECT count(), countIf(k = 1), uniqExact(request_id) FROM gateway_requests FINAL")
        ) == [(301, 1, 300)]
        assert store.rows(Query(sql="SELECT count() FROM engine_requests FINAL")) == [(100,)]
        assert store.rows(
            Query(sql="SELECT kind, reason, count() FROM dead_letters FINAL GROUP BY 1, 2 ORDER BY 1")
        ) == [("engine", "span: trace id is not 16 bytes", 1), ("gateway", "not a JSON object", 1)]
        covered = store.rows(
            Query(sql="SELECT kind, min(covered_from), max(covered_to) FROM covered GROUP BY 1")
        )
        seconds = {kind: (end - start).total_seconds() for kind, start, end in covered}
        assert seconds == {"gateway": 300.0, "engine": 99.0}


def test_a_row_that_the_engine_never_takes_is_kept_by_its_shape_once(dsn):
    batch = LineBatch(
        kind="engine", source="edge", lines=[b'{"key": "' + SECRET + b' 42"}', b"\xff\xfe"], k=3
    )
    with open_store(dsn) as store:
        for _ in range(2):
            store.keep_dead_letters(batch, reason="refused by the store: error 27")
        assert store.rows(
            Query(
                sql="SELECT kind, source, excerpt, k FROM dead_letters FINAL"
                " WHERE reason = 'refused by the store: error 27' ORDER BY excerpt"
            )
        ) == [
            ("engine", "edge", "xx", 3),
            ("engine", "edge", '{"xxx": "xxx-xxxxxxxx\'x-xxxxxx-xxxxxx 00"}', 3),
        ]
        store.keep_dead_letters(LineBatch(kind="engine", source="edge", lines=[]), reason="nothing")
