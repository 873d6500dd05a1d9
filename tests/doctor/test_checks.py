"""Each check of the doctor's: what it finds, and what it advises."""

import errno
import os
import socket
import threading
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from collectors.gateway.configuration import GatewaySection
from exporters.forwarding.configuration import ForwardSection
from fairclock.cli.configuration import Configuration
from fairclock.cli.diagnosis import machine, network
from fairclock.cli.diagnosis.finding import Finding
from fairclock.cli.diagnosis.logs import log_findings
from fairclock.cli.diagnosis.store import store_findings
from fairclock.errors import StoreUnreachable
from fairclock.store.disks import Disk
from fairclock.store.inspection import StoreInspection
from sla.alerting.configuration import DiskSection

GIB = 1 << 30


def good_inspection(**changes):
    return StoreInspection(
        **{"exists": True, "schema": 3, "newest_schema": 3, "server_version": "26.9", **changes}
    )


def told(findings):
    return {finding.check: (finding.state, finding.detail, finding.remedy) for finding in findings}


def of_store(found):
    def inspect(_):
        if isinstance(found, Exception):
            raise found
        return found

    return told(
        store_findings(
            "clickhouse://a:secret@db/x", "clickhouse://a@db/x", inspect=inspect, marks=DiskSection()
        )
    )


def test_a_finding_that_is_not_fine_needs_a_remedy():
    with pytest.raises(ValueError, match="needs a remedy"):
        Finding(check="disk", state="warning", detail="nearly full")


@pytest.mark.parametrize(
    ("found", "check", "state", "detail", "remedy"),
    [
        pytest.param(
            good_inspection(exists=False), "store", "ok", "is not there yet; its first use makes it", "", id="none yet"
        ),
        pytest.param(good_inspection(), "store", "ok", "clickhouse://a@db/x, ClickHouse 26.9", "", id="there"),
        pytest.param(
            good_inspection(is_embedded=True, is_served=True), "store", "ok", "served by another process", "", id="held"
        ),
        pytest.param(good_inspection(), "schema", "ok", "3, current", "", id="current"),
        pytest.param(
            good_inspection(schema=2), "schema", "error", "is older than this program", "run fairclock migrate", id="older"
        ),
        pytest.param(
            good_inspection(schema=0), "schema", "error", "is older than this program (0", "run fairclock migrate", id="empty"
        ),
        pytest.param(
            good_inspection(schema=2, is_embedded=True), "schema", "ok", "its next use makes it 3", "", id="will be migrated"
        ),
        pytest.param(
            good_inspection(schema=2, is_embedded=True, is_served=True),
            "schema", "error", "is older than this program", "restart the process", id="served by an older program",
        ),
        pytest.param(
            good_inspection(schema=4), "schema", "error", "is newer than this program", "upgrade this", id="newer"
        ),
        pytest.param(good_inspection(clock_ahead_seconds=-1.9), "store's clock", "ok", "-1.9 s", "", id="in step"),
        pytest.param(
            good_inspection(clock_ahead_seconds=-2.1), "store's clock", "warning", "-2.1 s", "NTP", id="behind"
        ),
        pytest.param(
            good_inspection(clock_ahead_seconds=7200), "store's clock", "warning", "+7200.0 s", "NTP", id="ahead"
        ),
        pytest.param(
            StoreUnreachable("clickhouse://a@db/x", "nobody answers", found="Connection refused", remedy="start it"),
            "store", "error", "nobody answers (Connection refused)", "start it", id="away",
        ),
        pytest.param(
            StoreUnreachable("x", "y"), "store", "error", "x: y", "run fairclock doctor again", id="an error without advice"
        ),
        pytest.param(
            ModuleNotFoundError("no chdb", name="chdb"),
            "store", "error", "needs the Python package chdb", "pip install 'fairclock[store]'", id="no engine",
        ),
    ],
)  # fmt: skip
def test_the_store(found, check, state, detail, remedy):
    given = of_store(found)[check]
    assert given[0] == state
    assert detail in given[1]
    assert remedy in given[2]
    assert "secret" not in str(of_store(found))


@pytest.mark.parametrize(
    ("disks", "state", "detail"),
    [
        ((Disk(name="default", free_bytes=10 * GIB, total_bytes=100 * GIB),), "ok", "default, 10 GiB (10%) free"),
        ((Disk(name="default", free_bytes=9 * GIB, total_bytes=100 * GIB),), "warning", "default, 9 GiB (9%) free"),
        ((Disk(name="default", free_bytes=4 * GIB, total_bytes=100 * GIB),), "error", "default, 4 GiB (4%) free"),
        (None, "warning", "the account may not look at it"),
    ],
    ids=["a tenth is enough", "less warns", "less than a twentieth is an error", "nobody may look"],
)  # fmt: skip
def test_a_servers_disk_is_judged_by_the_marks_of_its_alerts(disks, state, detail):
    assert of_store(good_inspection(disks=disks))["server's disk"][:2] == (state, detail)
    assert "server's disk" not in of_store(good_inspection())


def test_a_folder_that_is_not_there_yet_is_judged_by_the_nearest_that_is(tmp_path):
    found = machine.folder_finding("spool", tmp_path / "a" / "b", needs_bytes=0)
    assert (found.state, found.detail.split(",")[0]) == ("ok", str(tmp_path / "a" / "b"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("free", "needs", "state"),
    [
        (10 * GIB, 10 * GIB, "ok"),
        (10 * GIB - 1, 10 * GIB, "warning"),
        (GIB // 4 - 1, 0, "error"),
        (GIB // 4, 0, "ok"),
    ],
)
def test_room_on_the_disk(tmp_path, monkeypatch, free, needs, state):
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    assert machine.folder_finding("spool", tmp_path, needs_bytes=needs).state == state


def test_a_folder_that_takes_no_files(tmp_path, monkeypatch):
    def refuse(**_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(machine.tempfile, "NamedTemporaryFile", refuse)
    found = machine.folder_finding("spool", tmp_path, needs_bytes=0)
    assert (found.state, found.detail) == ("error", f"{tmp_path} cannot be written (Read-only file system)")


def test_what_the_spool_holds_already_is_not_asked_for_again(tmp_path, monkeypatch):
    (tmp_path / "segments").mkdir()
    (tmp_path / "segments" / "1.segment").write_bytes(b"x" * 1000)
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda _: SimpleNamespace(free=GIB))
    assert [f.state for f in machine.spool_findings(tmp_path, limit_bytes=GIB + 1000)] == ["ok"]
    assert [f.state for f in machine.spool_findings(tmp_path, limit_bytes=GIB + 1001)] == ["warning"]


def test_damaged_segments_are_not_kept_quiet(tmp_path):
    (tmp_path / "quarantine").mkdir()
    (tmp_path / "quarantine" / "00000000000000000007.12-damaged").touch()
    found = told(machine.spool_findings(tmp_path, limit_bytes=0))["spool's quarantine"]
    assert found[0] == "warning"
    assert "1 damaged segments lie in" in found[1]


@pytest.mark.parametrize(
    ("year", "synchronised", "state"),
    [
        (2026, True, "ok"),
        (2026, None, "ok"),
        (2026, False, "warning"),
        (1970, True, "error"),
        (2106, True, "error"),
    ],
)
def test_the_clock(monkeypatch, year, synchronised, state):
    monkeypatch.setattr(machine, "_is_synchronised", lambda: synchronised)
    assert machine.clock_finding(datetime(year, 1, 1, tzinfo=UTC)).state == state


def test_the_kernel_can_be_asked_about_its_clock():
    assert machine._is_synchronised() in {True, False, None}


def line(**changes):
    keys = {"time": '"1790856000.000"', "request_time": '"0.1"', "status": '"200"', **changes}
    return "{" + ",".join(f'"{key}":{value}' for key, value in keys.items()) + "}\n"


@pytest.mark.parametrize(
    ("content", "state", "detail"),
    [
        pytest.param(line(), "ok", "access.log", id="a log as it should be"),
        pytest.param("", "ok", "nothing in it yet", id="an empty log"),
        pytest.param("\n\n", "ok", "nothing in it yet", id="blank lines"),
        pytest.param(line() + line()[:20], "ok", "access.log", id="a line that is being written"),
        pytest.param(line(uri='"/\\xE4"'), "ok", "access.log", id="nginx's own escapes"),
        pytest.param(
            '10.0.0.1 - - [01/Oct/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-"\n' * 3,
            "error", "looks like nginx's combined", id="another format",
        ),
        pytest.param(line(status='"-"'), "error", "is no number", id="a status that is no number"),
        pytest.param("[" * 5000 + "\n", "error", "lines such as", id="nonsense"),
    ],
)  # fmt: skip
def test_a_log_file(tmp_path, content, state, detail):
    path = tmp_path / "access.log"
    path.write_text(content)
    (found,) = log_findings(GatewaySection(files=(path,)))
    assert found.state == state
    assert detail in found.detail


def test_a_log_whose_last_line_is_what_the_gateway_says_of_itself_is_none_of_another_format(tmp_path):
    path = tmp_path / "haproxy.log"
    request = "haproxy[1]: 10.0.0.1:3 [30/Nov/2026:12:00:00.655] in vllm/e1 0/0/1/30/31 200 9 - - ---- 1/1/1/1/0 0/0"
    message = "haproxy[1]: Server vllm/e1 is DOWN, reason: Layer4 timeout."
    path.write_text(f'{request} "POST /v1/x HTTP/1.1"\n{message}\n')
    (found,) = log_findings(GatewaySection(files=(path,)))
    assert (found.state, found.detail) == ("ok", f"{path}, haproxy")


def test_log_files_that_are_not_there_or_cannot_be_followed(tmp_path):
    (tmp_path / "old.log.gz").touch()
    section = GatewaySection(
        files=(tmp_path / "none.log", tmp_path / "*.json", tmp_path, tmp_path / "old.log.gz")
    )
    found = list(log_findings(section))
    assert [finding.state for finding in found] == ["warning", "warning", "error", "error"]
    assert "is a folder, not a log" in found[2].detail
    assert "use: fairclock ingest gateway" in found[3].remedy


def test_a_log_that_may_not_be_read(tmp_path, monkeypatch):
    path = tmp_path / "access.log"
    path.touch()

    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    (found,) = log_findings(GatewaySection(files=(path,)))
    assert (found.state, found.detail) == ("error", f"{path} cannot be read (Permission denied)")


def addresses(**changes):
    values = {
        "http": {"address": "off"},
        "otlp": {"grpc": "off", "http": "off"},
        "gateway": {"syslog": {"tcp": "off"}},
    }
    return Configuration.model_validate({**values, **changes})


def test_ports_that_are_free_taken_or_off():
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = f"127.0.0.1:{other.getsockname()[1]}"
        found = told(network.port_findings(addresses(otlp={"grpc": taken, "http": "127.0.0.1:0"})))
    assert set(found) == {"otlp.grpc", "otlp.http"}
    assert found["otlp.http"][0] == "ok"
    assert found["otlp.grpc"] == (
        "warning",
        f"cannot listen on {taken} (Address already in use)",
        "stop the program that listens there, or name another address under otlp.grpc",
    )


def test_ports_that_a_running_fairclock_has_are_fine(monkeypatch):
    monkeypatch.setattr(network, "_is_fairclock", lambda _: True)
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = f"127.0.0.1:{other.getsockname()[1]}"
        found = told(network.port_findings(addresses(http={"address": taken})))
    assert found["http.address"] == ("ok", f"{taken}, in use; a Fairclock runs already", "")


def test_a_running_fairclock_is_asked_itself_and_no_proxy_for_it(monkeypatch):
    class Ready(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(503)
            self.end_headers()
            self.wfile.write(b'{"ready": false, "checks": {}}')

        def log_message(self, *words):
            pass

    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(network, "_ANSWER_SECONDS", 120.0)
    with ThreadingHTTPServer(("127.0.0.1", 0), Ready) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        taken = f"127.0.0.1:{server.server_address[1]}"
        found = told(network.port_findings(addresses(http={"address": taken})))
        server.shutdown()
    assert found["http.address"] == ("ok", f"{taken}, in use; a Fairclock runs already", "")


def test_a_certificate_that_cannot_be_used_is_found(tmp_path):
    settings = addresses(http={"address": "off", "certificate": tmp_path / "a", "key": tmp_path / "b"})
    assert told(network.port_findings(settings))["http.certificate"][0] == "error"


@pytest.mark.parametrize(
    ("changes", "detail", "remedy"),
    [
        pytest.param({"to": "http://up.example"}, "would travel unencrypted", "use https", id="no TLS"),
        pytest.param({}, "there is no token", "forward.token_file, or set FAIRCLOCK_TOKEN", id="no token"),
        pytest.param(
            {"token_file": "/none/token"}, "cannot be read", "correct --token-file", id="no token file"
        ),
        pytest.param({"ca": "/none/ca.pem"}, "cannot be used as certificates", "PEM", id="no certificates"),
        pytest.param(
            {"to": "http://127.0.0.1:1"}, "Connection refused", "see that fairclock up runs", id="away"
        ),
    ],
)
def test_where_a_sidecar_forwards_to(monkeypatch, changes, detail, remedy):
    monkeypatch.delenv("FAIRCLOCK_TOKEN", raising=False)
    if changes and "token_file" not in changes:
        monkeypatch.setenv("FAIRCLOCK_TOKEN", "fct_x")
    section = ForwardSection.model_validate({"to": "https://127.0.0.1:1", **changes})
    found = network.forward_finding(section, now_us=1)
    assert found.state == "error"
    assert detail in found.detail
    assert remedy in found.remedy
