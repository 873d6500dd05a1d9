"""The holder of a folder serves it on loopback; whoever comes second works through it, and takes over when it goes."""

from __future__ import annotations

import http.client
import json
import socket
import stat
import subprocess
import sys
import textwrap
import threading

import pytest

from fairclock.errors import StoreError, StoreUnreachable, UsageError
from fairclock.store import LineBatch, Query, open_store
from fairclock.store.dsn import ServerAddress, parse_dsn
from fairclock.store.front import FRONT_FILE, Front
from tests.faults.processes import PATIENCE_SECONDS, eventually
from tests.store.conftest import gateway_line

HOLDER = textwrap.dedent(
    """
    import sys
    from fairclock.store import open_store
    with open_store(sys.argv[1]) as store:
        print("holding" if store.is_holder else "guest", flush=True)
        sys.stdin.readline()
    """
)


class Holder:
    """A process of its own that holds a folder until told to leave."""

    def __init__(self, dsn: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, dsn], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout.readline() == "holding\n"

    def leave(self) -> None:
        self.process.communicate("\n", timeout=PATIENCE_SECONDS)
        assert self.process.returncode == 0

    def die(self) -> None:
        self.process.kill()
        self.process.wait(timeout=PATIENCE_SECONDS)


@pytest.fixture
def dsn(tmp_path):
    return f"chdb://{tmp_path / 'store'}"


def count(store):
    return store.rows(Query(sql="SELECT count() FROM gateway_requests FINAL"))[0][0]


@pytest.mark.parametrize("end", [Holder.leave, Holder.die], ids=["leaves", "is killed"])
def test_a_guest_works_through_the_holder_and_takes_over_when_it(dsn, end):
    holder = Holder(dsn)
    with open_store(dsn) as guest:
        assert not guest.is_holder
        assert guest.ingest(LineBatch(kind="gateway", source="g", lines=[gateway_line(1)])).stored == 1
        assert guest.seal() == 1
        end(holder)
        assert guest.ingest(LineBatch(kind="gateway", source="g", lines=[gateway_line(2)])).stored == 1
        assert guest.is_holder
        assert count(guest) == 2


def test_what_a_killed_holder_left_of_inserts_does_not_stay(dsn, tmp_path):
    scratch = tmp_path / "store" / "scratch"
    holder = Holder(dsn)
    (scratch / "tmp1").write_text("lines as they came")
    holder.die()
    with open_store(dsn) as store:
        assert store.is_holder
        assert list(scratch.iterdir()) == []


def test_where_a_killed_holder_served_is_forgotten_before_its_folder_is_opened(dsn, tmp_path, monkeypatch):
    note, found = tmp_path / "store" / FRONT_FILE, []
    Holder(dsn).die()
    assert note.exists()

    def opening(folder, engine):
        found.append(note.exists())
        return Front(folder, engine)

    monkeypatch.setattr("fairclock.store.connection.Front", opening)
    with open_store(dsn) as store:
        assert store.is_holder
    assert found == [False]


def test_a_stop_waits_for_a_connection_that_was_just_accepted(tmp_path):
    begun, go_on = threading.Event(), threading.Event()
    front = Front(tmp_path, "no engine")

    class Late(front.RequestHandlerClass):
        def setup(self):
            begun.set()
            assert go_on.wait(PATIENCE_SECONDS)
            super().setup()

    front.RequestHandlerClass = Late
    front.start()
    stopping = threading.Thread(target=front.stop)
    with socket.create_connection(("127.0.0.1", front.port), timeout=PATIENCE_SECONDS):
        assert begun.wait(PATIENCE_SECONDS)
        stopping.start()
        eventually(lambda: front.fileno() < 0, what=lambda: "it accepts connections still")
        stopping.join(0.2)
        assert stopping.is_alive()
        go_on.set()
        stopping.join(PATIENCE_SECONDS)
    assert front.open_connections == {}


def test_the_front_wants_the_token_of_the_folder(dsn, tmp_path):
    holder = Holder(dsn)
    try:
        note_file = tmp_path / "store" / FRONT_FILE
        assert stat.S_IMODE(note_file.stat().st_mode) == 0o600
        note = json.loads(note_file.read_text())
        for token, status in (("", 403), ("wrong", 403), (note["token"], 200)):
            connection = http.client.HTTPConnection("127.0.0.1", note["port"], timeout=PATIENCE_SECONDS)
            connection.request("POST", "/", b"SELECT 1", {"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            assert (answer.status, answer.read() == b"1\n") == (status, status == 200)
            connection.close()
    finally:
        holder.die()


def test_parameters_and_errors_come_through_the_front(dsn):
    holder = Holder(dsn)
    try:
        with open_store(dsn) as guest:
            awkward = "it's \"\\\t\n 云帆'; DROP TABLE requests; --"
            assert guest.rows(Query(sql="SELECT {x:String}", parameters={"x": awkward})) == [(awkward,)]
            assert guest.rows(Query(sql="SELECT number FROM numbers(300000) ORDER BY number DESC"))[0] == (
                299_999,
            )
            with pytest.raises(StoreError, match="UNKNOWN_IDENTIFIER"):
                guest.rows(Query(sql="SELECT nonsense"))
            assert guest.rows(Query(sql="SELECT 1")) == [(1,)]
    finally:
        holder.die()


def test_long_parameters_come_through_the_front(dsn):
    holder = Holder(dsn)
    try:
        with open_store(dsn) as guest:
            numbers = list(range(10**15, 10**15 + 2_000))
            query = Query(
                sql="SELECT length({x:Array(Int64)}), {y:String}", parameters={"x": numbers, "y": "a'\n云"}
            )
            assert guest.rows(query) == [(2_000, "a'\n云")]
    finally:
        holder.die()


def test_a_guest_may_import_more_days_than_one_insert_takes_by_itself(dsn):
    holder = Holder(dsn)
    try:
        with open_store(dsn) as guest:
            lines = [gateway_line(-86_400 * day, request_id=f"r{day}") for day in range(150)]
            assert guest.ingest(LineBatch(kind="gateway", source="g", lines=lines)).stored == 150
    finally:
        holder.die()


def test_an_error_in_the_middle_of_a_result_reaches_the_guest(dsn):
    holder = Holder(dsn)
    try:
        with open_store(dsn) as guest, pytest.raises(StoreError, match="FUNCTION_THROW_IF_VALUE_IS_NON_ZERO"):
            guest.rows(Query(sql="SELECT throwIf(number = 200000) FROM numbers(300000)"))
    finally:
        holder.die()


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"Content-Length: 8\r\n\r\n", id="nothing of its body"),
        pytest.param(b"Content-Length: 8\r\n\r\nSELECT", id="a part of its body"),
        pytest.param(b"Transfer-Encoding: chunked\r\n\r\n", id="no chunk"),
        pytest.param(b"Transfer-Encoding: chunked\r\n\r\n8\r\nSEL", id="half a chunk"),
        pytest.param(b"Transfer-Encoding: chunked\r\n\r\n6\r\nSELECT\r\n", id="all chunks but the last"),
    ],
)
@pytest.mark.parametrize("ends", ["the front stops", "the client stops"])
def test_a_request_of_which_came(tmp_path, sent, ends):
    ran: list[bytes] = []
    front = Front(tmp_path, "no engine")

    def intercept(handler, body):
        ran.append(body)
        handler._answer(200, b"ran")

    front.intercept = intercept
    front.start()
    with socket.create_connection(("127.0.0.1", front.port), timeout=PATIENCE_SECONDS) as client:
        head = f"POST / HTTP/1.1\r\nHost: front\r\nAuthorization: Bearer {front.token}\r\n"
        client.sendall(head.encode() + b"Content-Length: 8\r\n\r\nSELECT 1")
        answers = client.makefile("rb")
        while answers.readline() != b"\r\n":
            pass
        assert answers.read(3) == b"ran"  # so the connection is known to the front
        client.sendall(head.encode() + sent)
        if ends == "the front stops":
            front.stop()
        else:
            client.shutdown(socket.SHUT_WR)
        assert answers.read() == b"", "neither run nor answered"
    assert ran == [b"SELECT 1"]
    if ends != "the front stops":
        front.stop()


COUNT = "import sys; from fairclock.cli import main; main(['query', '--dsn', sys.argv[1], 'SELECT count() FROM requests'])"


@pytest.mark.parametrize("state", ["empty", "left by a killed holder"])
def test_commands_that_start_together_all_work(dsn, state):
    if state != "empty":
        Holder(dsn).die()
    together = [
        subprocess.Popen(
            [sys.executable, "-c", COUNT, dsn], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    answers = [each.communicate(timeout=PATIENCE_SECONDS) for each in together]
    assert [(each.returncode, *answer) for each, answer in zip(together, answers, strict=True)] == [
        (0, "count()\n0\n", "")
    ] * 4


def test_a_taken_over_folder_keeps_no_lines_and_no_open_writes_of_the_dead(dsn, tmp_path):
    Holder(dsn).die()
    left = tmp_path / "store" / "scratch" / "tmpleft"
    left.write_text("a line with a secret")
    with open_store(dsn) as store:
        assert not left.exists()
        store.execute(Query(sql="INSERT INTO write_log SELECT generateUUIDv4(), now64(6) - 5, 1"))
        held = store.watermark()
    with open_store(dsn) as store:
        assert store.watermark() > held
        assert store.rows(Query(sql="SELECT count() FROM gateway_requests")) == [(0,)]


def test_a_server_that_nobody_runs_is_unreachable():
    with pytest.raises(
        StoreUnreachable, match=r"clickhouse://u@127.0.0.1:1/d: nobody answers \(Connection refused\)"
    ):
        open_store("clickhouse://u:secret@127.0.0.1:1/d")


BAD_DSN = {
    "mysql://x": "not the address of a store",
    "chdb://": "no folder is named",
    "clickhouse://": "no host is named",
    "clickhouse://h:port/d": "the port is not a number",
    "clickhouse://[x": "not the address of a store",
    "chdb:///a?b": "question mark",
}


@pytest.mark.parametrize(("text", "problem"), BAD_DSN.items(), ids=BAD_DSN.keys())
def test_a_bad_dsn_says_what_to_write(text, problem):
    with pytest.raises(UsageError, match=problem):
        parse_dsn(text)


def test_a_dsn_shows_no_password():
    address = parse_dsn("clickhouses://user:p%40ss@db.example/ledger")
    assert address == ServerAddress(
        host="db.example", port=8443, user="user", password="p@ss", database="ledger", secure=True
    )
    assert str(address) == "clickhouses://user@db.example:8443/ledger"


def test_a_folder_may_have_a_number_sign_in_its_name():
    assert str(parse_dsn("chdb:///home#1/a%20b").path) == "/home#1/a b"
