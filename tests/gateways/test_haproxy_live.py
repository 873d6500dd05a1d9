"""The shipped HAProxy snippet in a real HAProxy, and what Fairclock reads in the log that it writes."""

import contextlib
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import collectors.gateway
from fairclock.demo.live.programs import Program, free_port, running
from fairclock.store import open_store
from tests.gateways.live import (
    CHUNK_SECONDS,
    CHUNKS,
    PATIENCE_SECONDS,
    SLOW_SECONDS,
    Traffic,
    engine,
    program,
    read_log,
)

pytestmark = pytest.mark.integration

SNIPPET = Path(collectors.gateway.__file__).parent / "haproxy"
QUEUED_SECONDS = 0.25
IMPATIENT_SECONDS = 2.0
SHORT_QUEUE_SECONDS = 0.3
ROUNDING_SECONDS = 0.002
"""HAProxy counts whole milliseconds."""
HALTED_SECONDS = 60.0
"""For how long a busy machine may halt HAProxy after an answer's last byte."""
MOST_TRIES = 5
CLASSIC = "/httplog"
AT_LEAST = [
    ("/v1/fast", 0),
    ("/v1/slow", SLOW_SECONDS),
    ("/v1/stream", CHUNKS * CHUNK_SECONDS),
    ("/v1/queued", QUEUED_SECONDS),
    ("/impatient/held", IMPATIENT_SECONDS),
    ("/crowded/queued", SHORT_QUEUE_SECONDS),
    ("/impatient/stream/hangs", IMPATIENT_SECONDS),
]
CONFIGURATION = """
global
    stats socket {folder}/stats mode 600 level admin

frontend inference from fairclock
    bind 127.0.0.1:{port}
    use_backend impatient if {{ path_beg /impatient }}
    use_backend crowded if {{ path_beg /crowded }}
    use_backend nowhere if {{ path_beg /nowhere }}
    default_backend engines

frontend classic from fairclock
    bind 127.0.0.1:{classic_port}
    no log
    log {syslog} format rfc3164 local0 info
    option httplog
    default_backend engines

backend engines from fairclock-engines
    server e1 127.0.0.1:{engine_port} maxconn 1

backend impatient from fairclock-engines
    timeout server {impatient}ms
    server e1 127.0.0.1:{engine_port}

backend crowded from fairclock-engines
    timeout queue {short_queue}ms
    server e1 127.0.0.1:{engine_port} maxconn 1

backend nowhere from fairclock-engines
    retries 0
    server e1 127.0.0.1:{nobody}
"""


def _installed(folder):
    snippet = folder / "fairclock"
    shutil.copytree(SNIPPET, snippet)
    (snippet / "tenants.map").write_text("sk-acme acme\nsk-\u91d1 \u91d1\n")
    main = snippet / "fairclock.cfg"
    main.write_text(main.read_text().replace("/etc/haproxy/fairclock", str(snippet)))
    return main


def _queued(folder, backend):
    """Return how many requests wait for a server of `backend`, as HAProxy's own statistics say."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(f"{folder}/stats")
        client.sendall(b"show stat\n")
        table = b"".join(iter(lambda: client.recv(65536), b"")).decode()
    rows = [line.split(",") for line in table.splitlines()]
    return sum(int(row[2] or 0) for row in rows if row[:2] == [backend, "BACKEND"])


def _drive(traffic, folder):
    traffic.send("/v1/fast", Authorization="Bearer sk-acme", **{"X-Request-Id": "order-7"})
    traffic.send("/v1/slow", **{"X-Request-Id": "two words", "traceparent": f"00-{'1' * 32}-{'2' * 16}-00"})
    traffic.send("/v1/stream", Authorization="Bearer sk-\u91d1".encode())
    traffic.send("/v1/bad")
    traffic.send("/v1/stream/dies")
    traffic.leave("/v1/stream/hangs/left", after=b"data: 1")
    traffic.leave("/v1/held/left")
    traffic.engine.release.set()  # the engine notices nobody; its thread goes on
    traffic.engine.release.clear()
    first = traffic.behind("/v1/held")
    second = threading.Thread(target=traffic.send, args=("/v1/queued",), daemon=True)
    second.start()
    traffic.until(lambda: _queued(folder, "engines") == 1)
    time.sleep(QUEUED_SECONDS)  # what is measured, not luck
    traffic.engine.release.set()
    for thread in (first, second):
        thread.join()
    traffic.engine.release.clear()
    waiting = [traffic.behind(f"/impatient/{name}") for name in ("held", "stream/hangs")]
    first = traffic.behind("/crowded/held")
    traffic.send("/crowded/queued")
    traffic.send("/nowhere")
    for thread in waiting:
        thread.join()
    traffic.engine.release.set()
    first.join()


def _lost_time(seen):
    """Return whether HAProxy says that something was shorter than it can have been."""
    took = {
        route: row["responded_us"] / 1e6
        for route, row in [*seen.rows.items(), *seen.classic_log.rows.items()]
    }
    waited = {route: float(fields["queue"]) for route, fields in seen.read.fields.items()}
    queues = [("/v1/queued", QUEUED_SECONDS), ("/crowded/queued", SHORT_QUEUE_SECONDS)]
    wholes = [*AT_LEAST, (f"{CLASSIC}/slow", SLOW_SECONDS)]
    return any(
        found.get(route, least) < least - ROUNDING_SECONDS
        for found, expected in ((took, wholes), (waited, queues))
        for route, least in expected
    )


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What HAProxy logged; driven again where it lost time, for it takes a halt of its process for a clock that was set."""
    for _ in range(MOST_TRIES):
        found = _run(tmp_path_factory.mktemp("haproxy"))
        if not _lost_time(found):
            break
    return found


def _run(folder):
    snippet = _installed(folder)
    port, classic_port = free_port(), free_port()
    syslog = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    syslog.bind(str(folder / "syslog"))
    syslog.settimeout(PATIENCE_SECONDS)
    with contextlib.closing(syslog), engine() as behind:
        own = folder / "haproxy.cfg"
        own.write_text(
            CONFIGURATION.format(
                folder=folder, port=port, classic_port=classic_port, engine_port=behind.server_address[1], nobody=free_port(),
                syslog=folder / "syslog", impatient=round(IMPATIENT_SECONDS * 1000), short_queue=round(SHORT_QUEUE_SECONDS * 1000),
            )
        )  # fmt: skip
        log = folder / "haproxy.log"
        command = [program("haproxy"), "-db", "-f", str(snippet), "-f", str(own)]
        with running(Program(name="haproxy", arguments=command, output=log)) as haproxy:
            traffic = Traffic(f"http://127.0.0.1:{port}", behind)
            traffic.begin(haproxy)
            _drive(traffic, folder)
            classic = Traffic(f"http://127.0.0.1:{classic_port}", behind)
            classic.send(f"{CLASSIC}/slow")
            (folder / "httplog.log").write_bytes(syslog.recv(65536).rstrip(b"\0\n") + b"\n")
            traffic.until(lambda: log.read_bytes().count(b'{"fairclock"') == len(traffic.measured))
        headers = dict(behind.seen)
    with open_store(f"chdb://{folder}/store") as store:
        whole = read_log(store, log, source="haproxy")
        classic_log = read_log(store, folder / "httplog.log", source="classic")
    return SimpleNamespace(
        traffic=traffic, classic=classic, headers=headers, read=whole, rows=whole.rows, classic_log=classic_log, text=log.read_text(),
        snippet=snippet, own=own,
    )  # fmt: skip


def test_the_snippet_passes_haproxys_own_check(seen):
    command = [program("haproxy"), "-c", "-f", str(seen.snippet), "-f", str(seen.own)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "WARNING" in done.stderr) == (0, False), done.stderr


def test_the_log_is_recognised_and_read_to_the_last_line(seen):
    assert seen.read.formats == ["haproxy-json"]
    assert seen.read.dead_letters == []
    assert seen.read.counts.stored == len(seen.rows)
    assert set(seen.rows) == set(seen.traffic.measured)


OUTCOMES = [
    ("/v1/fast", 200, "ok", ""),
    ("/v1/slow", 200, "ok", ""),
    ("/v1/stream", 200, "ok", ""),
    ("/v1/queued", 200, "ok", ""),
    ("/v1/bad", 500, "server_error", ""),
    ("/v1/stream/dies", 200, "incomplete", "SD--"),
    pytest.param("/v1/stream/hangs/left", 200, "client_aborted", "CD--"),
    pytest.param("/v1/held/left", 400, "client_aborted", "CH--"),
    ("/impatient/held", 504, "timeout", "sH--"),
    ("/crowded/queued", 503, "capacity_rejected", "sQ--"),
    ("/crowded/held", 200, "ok", ""),
    pytest.param("/impatient/stream/hangs", 200, "timeout", "sD--"),
    ("/nowhere", 503, "capacity_rejected", "SC--"),
]


@pytest.mark.parametrize(
    ("route", "status", "outcome", "error_code"), OUTCOMES, ids=lambda value: str(value).strip("/")
)
def test_the_outcome_of(seen, route, status, outcome, error_code):
    row = seen.rows[route]
    assert (row["status"], row["outcome"], row["error_code"]) == (status, outcome, error_code)


def test_clients_saw_the_statuses_that_are_logged(seen):
    assert {route: seen.rows[route]["status"] for route in seen.traffic.statuses} == seen.traffic.statuses


@pytest.mark.parametrize(("route", "at_least"), AT_LEAST)
def test_the_time_lies_between_what_the_engine_took_and_what_the_client_measured(seen, route, at_least):
    row, (sent, seconds) = seen.rows[route], seen.traffic.measured[route]
    assert at_least - ROUNDING_SECONDS <= row["responded_us"] / 1e6 <= seconds + HALTED_SECONDS
    assert sent - ROUNDING_SECONDS <= row["received_us"] / 1e6 <= sent + seconds + ROUNDING_SECONDS


def test_a_wait_for_a_free_slot_is_queue(seen):
    queue = {route: float(fields["queue"]) for route, fields in seen.read.fields.items()}
    assert queue["/v1/queued"] >= QUEUED_SECONDS - ROUNDING_SECONDS
    assert queue["/crowded/queued"] >= SHORT_QUEUE_SECONDS - ROUNDING_SECONDS


def test_the_wait_lies_before_the_engine(seen):
    queue = {route: float(fields["queue"]) for route, fields in seen.read.fields.items()}
    queued = seen.rows["/v1/queued"]
    assert queue["/v1/queued"] * 1e6 <= queued["forwarded_us"] + 1 <= queued["responded_us"] + 1
    assert seen.rows["/crowded/queued"]["forwarded_us"] is None


def test_the_engine_gets_the_ids_that_are_logged(seen):
    for path, headers in seen.headers.items():
        row = seen.rows.get(path.partition("?")[0])
        if row is None:
            continue
        given = {name.lower(): value for name, value in headers.items()}
        assert given["x-request-id"] == row["request_id"]
        assert given["traceparent"].split("-")[1] == row["trace"].lower()
        assert given["traceparent"].endswith("-01")


def test_ids_are_the_clients_only_where_they_are_plain(seen):
    assert seen.rows["/v1/fast"]["request_id"] == "order-7"
    assert seen.rows["/v1/slow"]["request_id"] == seen.rows["/v1/slow"]["trace"].lower() != "1" * 32
    assert len({row["trace"] for row in seen.rows.values()}) == len(seen.rows)


def test_tenants_are_told_by_their_keys(seen):
    tenants = {route: row["tenant"] for route, row in seen.rows.items() if row["tenant"]}
    assert tenants == {"/v1/fast": "acme", "/v1/stream": "\u91d1"}


def test_streams_are_known_and_so_are_servers(seen):
    assert {route: seen.rows[route]["stream"] for route in ("/v1/fast", "/v1/stream", "/v1/bad")} == {
        "/v1/fast": 0, "/v1/stream": 1, "/v1/bad": None,
    }  # fmt: skip
    assert (seen.rows["/v1/fast"]["server"], seen.rows["/v1/fast"]["upstream"]) == ("inference", "engines/e1")


def test_neither_query_nor_key_is_in_the_log(seen):
    assert "hunter2" not in seen.text
    assert "sk-" not in seen.text


def test_httplog_behind_syslog_is_read_alike(seen):
    assert (seen.classic_log.formats, seen.classic_log.counts.stored) == (["haproxy"], 1)
    row, (_, seconds) = seen.classic_log.rows[f"{CLASSIC}/slow"], seen.classic.measured[f"{CLASSIC}/slow"]
    assert SLOW_SECONDS - ROUNDING_SECONDS <= row["responded_us"] / 1e6 <= seconds + HALTED_SECONDS
    assert (row["status"], row["outcome"], row["upstream"]) == (200, "ok", "engines/e1")
