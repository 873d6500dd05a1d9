"""Whatever a server does to its writer: every row arrives, each once, and a sound row never becomes a dead letter."""

import json
import subprocess
import sys
from contextlib import nullcontext

import pytest

from collectors.gateway.files import ingest_gateway_files
from collectors.otlp.committing import FORMAT
from exporters.clickhouse import Writer, lines_of
from exporters.spool import Spool
from fairclock.cli.pipeline.store_link import StoreLink
from fairclock.errors import StoreError, StoreReadOnly, StoreUnreachable
from fairclock.model import Frame
from fairclock.store import LineBatch, Query, batches, open_store
from tests.faults import traffic
from tests.faults.misbehaving_server import ALL_BEHAVIOURS, BEHAVIOURS
from tests.faults.processes import PATIENCE_SECONDS, ROOT, Server, environment, eventually

ADAPTERS = {"nginx-json": lines_of, FORMAT: lines_of}
ROWS = 120
MOST_TRIES = 30
# Each is a moment of one batch's way into the tables.
MOMENTS = {
    "the note before a write": r"INSERT INTO write_log",
    "the lines themselves": r"INSERT INTO staged_lines",
    "their normalisation": r"CREATE TABLE staged_rows",
    "the rows": r"INSERT INTO gateway_requests",
    "what is covered": r"INSERT INTO `?covered",
    "anything": r"",
}
_CUT_IN_A_BODY = "cut in the middle"


def frame(start, end):
    return Frame(
        kind="gateway", format="nginx-json", source="gateway", generation="one", offset=start,
        payload=b"".join(traffic.line(number) + b"\n" for number in range(start, end)),
        repeats=tuple(
            (number - start, number - traffic.logged(number))
            for number in range(start, end)
            if number != traffic.logged(number)
        ),
        covered=(traffic.FIRST_MS * 1000, (traffic.FIRST_MS + (end - 1) * traffic.STEP_MS) * 1000),
    )  # fmt: skip


def rows(server):
    with open_store(server.dsn) as store:
        return [
            tuple(row)
            for row in store.rows(Query(sql="SELECT request_id, k FROM gateway_requests FINAL ORDER BY 1, 2"))
        ]


def count(server, table):
    with open_store(server.dsn) as store:
        return store.rows(Query(sql=f"SELECT count() FROM {table} FINAL"))[0][0]


@pytest.fixture
def spool(tmp_path):
    with Spool(tmp_path / "spool", limit_bytes=1 << 30) as spool:
        yield spool


class Writing:
    """A writer at work until the end of ``with``."""

    def __init__(self, spool, dsn):
        self.writer = Writer(spool, lambda: open_store(dsn), adapters=ADAPTERS, random=lambda: 0.0)

    def __enter__(self):
        self.writer.start()
        return self.writer

    def __exit__(self, *_):
        self.writer.stop(grace_seconds=PATIENCE_SECONDS)


def delivered(spool):
    return not spool.statistics(0).frames_waiting


CASES = [(do, at) for do in BEHAVIOURS for at in MOMENTS if do != "hang" or at == "the rows"] + [
    (_CUT_IN_A_BODY, "the lines themselves"),
]


@pytest.mark.parametrize(("do", "at"), CASES, ids=[f"{do}, at {at}" for do, at in CASES])
def test_a_writer_gets_every_row_in_once(server, spool, do, at):
    spool.append([frame(0, ROWS)])
    with open_store(server.dsn) as store:
        writer = Writer(spool, lambda: nullcontext(store), adapters=ADAPTERS)
        server.behave(do, at=MOMENTS[at], times=2)
        for _ in range(MOST_TRIES):
            if delivered(spool):
                break
            writer.turn(at_once=True)
    assert delivered(spool)
    assert server.misbehaved == 2 or (do == "slow" and server.misbehaved)
    assert rows(server) == traffic.expected_lines(ROWS)
    assert count(server, "dead_letters") == 0


def test_a_server_that_is_away_is_waited_for(tmp_path, spool):
    server = Server(tmp_path)
    try:
        server.start().wait_until_it_answers()
        server.stop()
        spool.append([frame(0, 50)])
        with Writing(spool, server.dsn) as writer:
            eventually(lambda: writer.statistics().failures_in_a_row > 1, what=writer.statistics)
            assert "nobody answers" in writer.statistics().latest_error
            server.start()
            eventually(lambda: delivered(spool), what=writer.statistics)
        assert rows(server) == traffic.expected_lines(50)
    finally:
        server.close()


def test_a_poisonous_frame_costs_no_other_while_the_server_misbehaves(server, spool):
    spool.append([frame(0, 50), Frame(
        kind="gateway", format="unheard of", source="gateway", generation="two", offset=0, payload=b"{}\n"
    ), frame(50, 100)])  # fmt: skip
    server.behave("store, then answer 500", at=MOMENTS["the rows"], times=3)
    with Writing(spool, server.dsn) as writer:
        eventually(lambda: delivered(spool), what=writer.statistics)
    assert rows(server) == traffic.expected_lines(100)
    assert count(server, "dead_letters") == 1


@pytest.mark.parametrize(
    "moment", ["CREATE TABLE staged_rows", "SELECT count", "INSERT INTO gateway_requests"]
)
def test_a_server_that_starts_anew_between_two_statements_loses_no_row(tmp_path, monkeypatch, moment):
    """What was staged in its memory is gone then, and the next statement finds a table without rows."""
    from fairclock.store.connection import Connection

    server = Server(tmp_path)
    batch = LineBatch(kind="gateway", source="gateway", lines=[traffic.line(number) for number in range(40)])
    restarts = []

    def restarted_before(method):
        def call(connection, query):
            if moment in query.sql and "staged" in query.sql and not restarts:
                restarts.append(query)
                server.kill()
                server.start().wait_until_it_answers()
            return method(connection, query)

        return call

    try:
        server.start().wait_until_it_answers()
        with open_store(server.dsn) as store:
            for name in ("execute", "rows"):
                monkeypatch.setattr(Connection, name, restarted_before(getattr(Connection, name)))
            counts = None
            for _ in range(3):
                try:
                    counts = store.ingest(batch)
                    break
                except StoreError:
                    continue
            assert restarts
            assert counts is not None
            assert (counts.read, counts.stored + counts.duplicates, counts.dead_letters) == (40, 40, 0)
        assert rows(server) == traffic.expected_lines(40)
    finally:
        server.close()


ERRORS = {
    "refuse": StoreUnreachable,
    "store, then cut": StoreUnreachable,
    "read only": StoreReadOnly,
    "no memory": StoreError,
    "too many parts": StoreError,
    "store, then answer 500": StoreUnreachable,
    "answer 504": StoreUnreachable,
}


@pytest.mark.parametrize(("do", "expected"), ERRORS.items(), ids=ERRORS)
def test_ingest_says_what_went_wrong_and_its_repetition_adds_what_was_missing(server, tmp_path, do, expected):
    log = tmp_path / "access.log"
    log.write_bytes(b"".join(traffic.line(number) + b"\n" for number in range(ROWS)))
    with open_store(server.dsn) as store:
        server.behave(do, at=MOMENTS["the rows"])
        with pytest.raises(expected):
            ingest_gateway_files(store, [str(log)], source="gateway", covers=None, progress=None)
        counts = ingest_gateway_files(store, [str(log)], source="gateway", covers=None, progress=None)
    assert server.misbehaved == 1
    assert (counts.read, counts.stored + counts.duplicates) == (ROWS, ROWS)
    assert rows(server) == traffic.expected_lines(ROWS)


def test_a_server_and_a_folder_take_the_same_from_the_same_file(server, tmp_path):
    log, spans = tmp_path / "access.log", tmp_path / "spans.pb"
    lines = [traffic.line(number) for number in range(ROWS)] + [b"", b"nonsense", b'{"time": "12"}']
    log.write_bytes(b"\n".join(lines))
    spans.write_bytes(traffic.body(range(ROWS)))
    answers = {}
    for dsn in (server.dsn, f"chdb://{tmp_path}/store"):
        for kind, file in (("gateway", log), ("otlp", spans)) * 2:
            done = subprocess.run(
                [sys.executable, "-m", "fairclock", "ingest", kind, str(file), "--json", "--dsn", dsn],
                cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=120, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            answers.setdefault(dsn.partition(":")[0], []).append(json.loads(done.stdout))
    assert answers["clickhouse"] == answers["chdb"]
    first, _, again, _ = answers["chdb"]
    assert first == {"read": ROWS + 3, "stored": ROWS, "duplicates": 0, "ignored": 1, "dead_letters": 2}
    assert again == {"read": ROWS + 3, "stored": 0, "duplicates": ROWS, "ignored": 1, "dead_letters": 2}


@pytest.mark.parametrize("end", ["the writer", "the server"])
def test_what_a_killed_writer_staged_does_not_stay(tmp_path, end):
    server = Server(tmp_path)
    kept = "SELECT count() FROM system.tables WHERE database = 'fairclock' AND name LIKE 'staged%'"
    try:
        server.start().wait_until_it_answers()
        for name in ("staged_lines_" + "a" * 32, "staged_rows_" + "b" * 32):
            with open_store(server.dsn) as store:
                store.execute(Query(sql=f"CREATE TABLE {name} (line String) ENGINE = Memory"))
        with open_store(server.dsn) as store:
            store.ingest(LineBatch(kind="gateway", source="gateway", lines=[traffic.line(0)]))
            assert store.rows(Query(sql=kept)) == [(2,)]  # their writer may still be at work
            if end == "the writer":
                batches.drop_abandoned_stages(store._connection, older_than_seconds=0)
                assert store.rows(Query(sql=kept)) == [(0,)]
        server.stop()
        server.start().wait_until_it_answers()
        with open_store(server.dsn) as store:
            assert store.rows(Query(sql=kept)) == [(0,)]
    finally:
        server.close()


@pytest.mark.parametrize("do", ["answer 504", "store, then answer 500", "no memory"])
def test_a_command_that_starts_while_a_server_is_in_trouble_waits_for_it(server, do):
    link = StoreLink(server.dsn)
    server.behave(do, at="", times=1)
    link.try_to_open()
    assert server.misbehaved == 1
    assert link.current is None
    assert link.open().rows(Query(sql="SELECT 1")) == [(1,)]
    link.close()


def test_every_behaviour_is_tried():
    assert {do for do, _ in CASES} == set(ALL_BEHAVIOURS)
