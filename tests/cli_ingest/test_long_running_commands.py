"""``collect otlp`` and ``up`` as processes: ready, at work beside other commands, stopped."""

import contextlib
import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
from datetime import UTC, datetime
from threading import Event

import httpx
import pytest

from fairclock.cli.pipeline.passes import Passes
from fairclock.cli.pipeline.sealing import SealStep
from fairclock.errors import StoreUnreachable
from tests.collectors.otlp_requests import good_span, request_of
from tests.collectors.test_log_records import logs_of, record, state
from tests.faults.processes import PATIENCE_SECONDS

READY = re.compile(r"receiving OTLP spans: gRPC on (\S+), HTTP on (\S+); into chdb:///")
LINE = b'{"time":"1790856000.000","request_time":"0.100","status":"200"}\n'


def fairclock(*words, dsn, **settings):
    environment = {**os.environ, "FAIRCLOCK_DSN": dsn}
    return subprocess.run(
        [sys.executable, "-m", "fairclock", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        **settings,
    )


@contextlib.contextmanager
def running(*words, dsn):
    """Run a command that lasts; yield it and the URL where it says that it receives."""
    process = subprocess.Popen(
        [sys.executable, "-m", "fairclock", *words, "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"],
        env={**os.environ, "FAIRCLOCK_DSN": dsn},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        first = process.stderr.readline()
        ready = READY.match(first)
        assert ready, first + process.stderr.read()
        yield process, ready[2]
    finally:
        process.kill()
        process.wait()


def send(url):
    body = request_of(good_span(1), good_span(9)).SerializeToString()
    return httpx.post(
        url, content=body, headers={"Content-Type": "application/x-protobuf"}, timeout=PATIENCE_SECONDS
    ).status_code


@pytest.fixture
def dsn(tmp_path):
    return f"chdb://{tmp_path}/store"


def count(dsn, table):
    return int(fairclock("query", "--format", "TSV", f"SELECT count() FROM {table}", dsn=dsn).stdout)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_collect_receives_until_it_is_stopped_and_has_covered_what_it_heard(dsn, number):
    with running("collect", "otlp", dsn=dsn) as (process, url):
        assert send(url) == 200
        process.send_signal(number)
        assert process.communicate(timeout=PATIENCE_SECONDS) == ("", "")
        assert process.returncode == 0
    assert (count(dsn, "engine_requests"), count(dsn, "covered")) == (2, 1)


def test_what_the_plugin_says_of_requests_and_of_its_engine_goes_where_spans_go(dsn):
    logs = logs_of(state(), record()).SerializeToString()
    with running("collect", "otlp", dsn=dsn) as (process, url):
        answer = httpx.post(
            url.replace("/v1/traces", "/v1/logs"),
            content=logs,
            headers={"Content-Type": "application/x-protobuf"},
            timeout=PATIENCE_SECONDS,
        )
        assert answer.status_code == 200
        process.terminate()
        assert process.communicate(timeout=PATIENCE_SECONDS) == ("", "")
    assert (count(dsn, "engine_requests"), count(dsn, "engine_states"), count(dsn, "dead_letters")) == (
        1,
        1,
        0,
    )


def test_up_holds_the_store_while_other_commands_work_on_it(dsn, tmp_path):
    (tmp_path / "log").write_bytes(LINE)
    with running("up", "--listen", "off", dsn=dsn) as (process, url):
        assert send(url) == 200
        ingested = fairclock("ingest", "gateway", "--json", str(tmp_path / "log"), dsn=dsn)
        assert json.loads(ingested.stdout)["stored"] == 1
        assert count(dsn, "gateway_requests") == 1
        process.terminate()
        assert process.communicate(timeout=PATIENCE_SECONDS)[1] == ""
        assert process.returncode == 0
    assert count(dsn, "engine_requests") == 2


def test_an_occupied_port_is_one_sentence(dsn):
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = f"127.0.0.1:{other.getsockname()[1]}"
        refused = fairclock("up", "--grpc", taken, "--http", "off", "--listen", "off", dsn=dsn)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"--grpc: cannot listen on {taken} (Address already in use); "
        "stop the program that listens there, or choose another address with --grpc HOST:PORT\n"
    )


class Sealing:
    def __init__(self, result):
        self.result = result

    def seal(self):
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.mark.parametrize(
    ("result", "said"),
    [
        pytest.param(3, ["sealed 3 hours"], id="hours that changed are named"),
        pytest.param(0, [], id="nothing to seal is nothing to say"),
        pytest.param(
            StoreUnreachable("store", "nobody answers"),
            ["evaluator: seals failed, and the next pass tries again: store: nobody answers"],
            id="a store that is away is tried again",
        ),
    ],
)
def test_sealing(caplog, result, said):
    caplog.set_level(logging.INFO)
    passes = Passes()
    passes.add("seals", SealStep(lambda: Sealing(result)))
    passes.run(datetime(2026, 10, 1, tzinfo=UTC), Event())
    assert [record.getMessage() for record in caplog.records] == said
