"""Lines of every gateway become rows in one place: outcomes, the gateway's own queue, tenants, and nothing that is private."""

import hashlib
import json

import pytest

from collectors.gateway.files import read_gateway_files
from collectors.gateway.formats import FormatChoice, canonical_lines, format_of
from collectors.gateway.tenants import TenantSection, tenancy_of
from exporters.clickhouse import DirectDelivery
from fairclock.cli.pipeline.adapting import Adapters
from fairclock.model import Frame
from fairclock.store import LineBatch, Query
from tests.gateways.reading import FIXTURES, lines_of
from tests.store.conftest import HOUR, Books, engine_line, gateway_line, shared_store, store, traced

__all__ = ["shared_store", "store"]

NAMES = sorted(path.stem for path in FIXTURES.glob("*.log"))
KEY = "sk-live-Zq7xKryptonite"
SECRET = "Zq7xKryptonite"
OWN = '$msec $status $request_time "$request" "$http_x_request_id" "$http_authorization" "$tenant" $upstream_response_time'


def adapted(**fields):
    """Return a canonical line as a gateway's adapter writes it: the request of `gateway_line`, and `fields`."""
    known = {
        key: value for key, value in json.loads(gateway_line(**traced(1))).items() if value not in {"", "-"}
    }
    raw = json.dumps(known | fields)

    class Stub(type(format_of("envoy-json"))):
        def read(self, line):
            return json.loads(line)

    (line,) = canonical_lines(Stub(), [raw.encode()])
    return line


def row_of(store, *columns):
    ((*values,),) = store.rows(Query(sql=f"SELECT {', '.join(columns)} FROM gateway_requests FINAL"))
    return values[0] if len(columns) == 1 else tuple(values)


@pytest.mark.parametrize("name", NAMES)
def test_every_line_of_a_fixture_is_a_row_or_a_dead_letter_and_once_only(store, name):
    path = str(FIXTURES / f"{name}.log")
    (first,) = read_gateway_files(store, [path], source="gateway")
    (again,) = read_gateway_files(store, [path], source="elsewhere", choice=FormatChoice(name))
    assert first.problem is None
    assert first.counts.stored >= 3
    assert (again.counts.stored, again.counts.duplicates) == (0, first.counts.stored)
    reasons = store.rows(Query(sql="SELECT reason, excerpt FROM dead_letters FINAL"))
    assert len(reasons) == first.counts.dead_letters
    assert all(set(excerpt) <= set("x0 !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") for _, excerpt in reasons)
    assert all("line_hash" not in excerpt and "xxxx_xxxx" not in excerpt for _, excerpt in reasons)


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        pytest.param({"status": "200", "timeout": "1"}, "timeout", id="2xx with the gateway's time-out flag"),
        pytest.param({"status": "200", "timeout": "1", "request_completion": ""}, "timeout", id="a time-out before not completed"),
        pytest.param({"status": "0", "timeout": "1"}, "timeout", id="no answer, timed out"),
        pytest.param({"status": "503", "timeout": "1"}, "capacity_rejected", id="503 with a flag"),
        pytest.param({"status": "200", "client_cancelled": "1"}, "client_aborted", id="2xx, the client left"),
        pytest.param({"status": "503", "client_cancelled": "1"}, "client_aborted", id="the client left the queue"),
        pytest.param({"status": "504", "client_cancelled": "1"}, "timeout", id="504 before a client's leaving"),
        pytest.param({"status": "200", "incomplete": "1"}, "incomplete", id="broken off"),
        pytest.param({"status": "200", "incomplete": "1", "client_cancelled": "1"}, "client_aborted", id="the first that matches"),
        pytest.param({"status": "503", "limit_req_status": "REJECTED"}, "quota_rejected", id="limited"),
        pytest.param({"status": "200"}, "ok", id="none of them"),
    ],
)  # fmt: skip
def test_outcomes_by_what_gateways_flag(store, fields, outcome):
    Books(store).feed(gateway=[adapted(**fields)])
    assert row_of(store, "outcome") == outcome


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"queue": "0.150"}, (150_000, None, 10_000, None), id="a queue"),
        pytest.param({"queue": "0"}, (0, None, 10_000, None), id="a queue that was empty"),
        pytest.param({"queue": "-1"}, (None, None, 10_000, None), id="a queue that was not reached"),
        pytest.param({"queue": "-"}, (None, None, 10_000, None), id="a queue that is not known"),
        pytest.param({"queue": "2.003"}, (None, None, 10_000, None), id="a queue longer than the request: impossible"),
        pytest.param({"time_to_first_token": "0.9"}, (None, 900_000, 10_000, None), id="a first chunk"),
        pytest.param({"time_to_first_token": "7"}, (None, None, 10_000, None), id="a first chunk after the end"),
        pytest.param({"forwarded": "0.25"}, (None, None, 250_000, None), id="known when it was handed on"),
        pytest.param({"forwarded": "3"}, (None, None, 10_000, None), id="handed on after the end: impossible"),
        pytest.param({"connected": "0.012"}, (None, None, 10_000, 12_000), id="a handshake"),
        pytest.param({"connected": "soon"}, (None, None, 10_000, None), id="a handshake in words"),
    ],
)  # fmt: skip
def test_durations_that_gateways_measure(store, fields, expected):
    Books(store).feed(gateway=[adapted(**fields)])
    assert (
        row_of(store, "gateway_queue_us", "gateway_first_token_us", "forwarded_us", "connected_us")
        == expected
    )


PHASES = (
    "end_to_end_us",
    "queue_us",
    "prefill_us",
    "decode_us",
    "frontend_us",
    "time_to_first_token_us",
    "engine",
)


@pytest.mark.parametrize("tangled", [False, True], ids=["the short join", "the full join"])
@pytest.mark.parametrize(
    ("fields", "engine", "expected"),
    [
        pytest.param({}, True, (2_000_000, 400_000, 300_000, 1_100_000, 100_000, 760_000, "joined"), id="no queue of its own"),
        pytest.param({"queue": "0.05"}, True, (2_000_000, 450_000, 300_000, 1_100_000, 100_000, 760_000, "joined"), id="its queue is added"),
        pytest.param({"queue": "0.05"}, False, (2_000_000, None, None, None, None, None, "none"), id="its queue alone is not the queue"),
        pytest.param({"queue": "0.103"}, True, (2_000_000, None, None, None, None, None, "quarantined"), id="more than fits"),
        pytest.param({"time_to_first_token": "0.8"}, True, (2_000_000, 400_000, 300_000, 1_100_000, 100_000, 800_000, "joined"), id="the logged chunk goes first"),
        pytest.param({"time_to_first_token": "0.8"}, False, (2_000_000, None, None, None, None, 800_000, "none"), id="the logged chunk needs no engine"),
    ],
)  # fmt: skip
def test_clocks_with_what_the_gateway_measured(store, fields, engine, expected, tangled):
    books = Books(store)
    more = (
        [gateway_line(60, request_id="x", **traced(2)), gateway_line(61, request_id="x", **traced(2))]
        if tangled
        else []
    )
    rows = [engine_line(trace_id=f"{1:032x}")] if engine else []
    books.feed(
        gateway=[adapted(**fields), *more],
        engine=[*rows, *([engine_line(60.01, trace_id=f"{2:032x}", span_id="1" * 16)] if tangled else [])],
    )
    (row,) = [each[1:] for each in books.requests("request_id", *PHASES) if each[0] == "r1"]
    assert row == expected
    if row[-1] == "joined":
        network = row[0] - row[4] - row[1] - row[2] - row[3]
        assert network >= -2_000


@pytest.mark.parametrize(
    ("said", "at"),
    [
        pytest.param("1791342000.5", 500_000, id="seconds"),
        pytest.param("1791342000", 0, id="whole seconds"),
        pytest.param("1791342000123", 123_000, id="milliseconds"),
        pytest.param("1791342000123456", 123_456, id="microseconds"),
        pytest.param("1791342000123456789", 123_457, id="nanoseconds"),
        pytest.param("t=1791342000123", 123_000, id="with t="),
        pytest.param("t=1791342000.123", 123_000, id="seconds with t="),
        pytest.param("t=1791342000123, t=1791342000999", 123_000, id="two values: the first"),
        pytest.param("t=soon, t=1791342000999", 999_000, id="two values, the first nonsense"),
        pytest.param("1791341400000", -600_000_000, id="ten minutes old"),
        pytest.param("1791342007000", 7_000_000, id="seconds in the future, as clocks are"),
        pytest.param("1891342000000", None, id="years in the future"),
        pytest.param("1591342000000", None, id="years old"),
        pytest.param("-1791342000123", None, id="negative"),
        pytest.param("NaN", None, id="NaN"),
        pytest.param("1e400", None, id="endless"),
        pytest.param("9" * 400, None, id="digits without end"),
        pytest.param("t=", None, id="t= and nothing"),
        pytest.param("-", None, id="absent"),
        pytest.param("", None, id="empty"),
        pytest.param("x1791342000123y", None, id="within a word"),
    ],
)
def test_x_request_start_is_kept_as_said_and_costs_no_row(store, said, at):
    assert HOUR.timestamp() == 1_791_342_000
    Books(store).feed(gateway=[gateway_line(x_request_start=said)])
    (found,) = store.rows(
        Query(
            sql="SELECT toUnixTimestamp64Micro(request_started_at) - 1791342000000000, responded_us FROM gateway_requests FINAL"
        )
    )
    assert found == (at, 2_000_000)


# Tenants


@pytest.fixture
def keys(tmp_path):
    path = tmp_path / "keys.yaml"
    path.write_text(f"{hashlib.sha256(KEY.encode()).hexdigest()}: acme\n")
    return path


def tenants(store):
    return sorted(each for (each,) in store.rows(Query(sql="SELECT tenant FROM gateway_requests FINAL")))


def shipped(number, **more):
    return json.loads(
        gateway_line(number, request_id=f"r{number}", **{"tenant": "-", "api_key": KEY, **more})
    )


def own(number, **more):
    del more
    return f'{HOUR.timestamp() + number:.3f} 200 0.100 "GET /v1?prompt={SECRET} HTTP/1.1" "r{number}" "Bearer {KEY}" "-" 0.09'.encode()


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("nginx-json", [json.dumps(shipped(number), ensure_ascii=False).encode() for number in range(3)]),
        (
            "nginx-json",
            [json.dumps(shipped(number, server="\xff")).encode("latin-1") + b" " for number in range(3)],
        ),
        (f"nginx:{OWN}", [own(number) for number in range(3)]),
    ],
    ids=[
        "the shipped format",
        "the shipped format, bytes and a blank behind it",
        "a log_format of one's own",
    ],
)
def test_a_mapping_acts_on_what_is_not_stored_and_never_makes_a_request_anew(
    store, tmp_path, keys, name, lines
):
    path = tmp_path / "access.log"
    choice = FormatChoice(name)

    def read(count, tenancy):
        path.write_bytes(b"".join(line + b"\n" for line in lines[:count]))
        (reading,) = read_gateway_files(store, [str(path)], source="gateway", choice=choice, tenancy=tenancy)
        return reading.counts.stored, reading.counts.duplicates

    mapped = tenancy_of(TenantSection(keys=keys))
    assert read(2, None) == (2, 0)
    assert read(3, mapped) == (1, 2)
    assert tenants(store) == ["", "", "acme"]
    assert read(
        3, tenancy_of(TenantSection.model_validate({"routes": [{"prefix": "/", "tenant": "other"}]}))
    ) == (0, 3)
    assert read(3, None) == (0, 3)
    assert tenants(store) == ["", "", "acme"]


def test_a_tenants_name_may_hold_anything(store, keys, tmp_path):
    name = 'ac"}me {请求} \\x41'
    keys.write_text(json.dumps({hashlib.sha256(KEY.encode()).hexdigest(): name}))
    path = tmp_path / "access.log"
    path.write_bytes(json.dumps(shipped(1)).encode() + b"\n")
    read_gateway_files(store, [str(path)], source="gateway", tenancy=tenancy_of(TenantSection(keys=keys)))
    assert tenants(store) == [name]


# What never gets in

HOSTILE = {
    "nginx-json": [json.dumps(shipped(1, uri=f"/v1/chat?prompt={SECRET}", cookie=SECRET)).encode(), f'{{"api_key":"{KEY}"'.encode()],
    f"nginx:{OWN}": [own(1), f'nonsense "Bearer {KEY}"'.encode()],
    "envoy-json": [
        json.dumps({"start_time": HOUR.isoformat(), "duration": 5, "response_code": 200, "response_flags": "-", "path": f"/v1?q={SECRET}", "authorization": f"Bearer {KEY}", "user_agent": SECRET, "body": SECRET}).encode(),
        json.dumps({"start_time": f"{SECRET}", "duration": 5, "authorization": f"Bearer {KEY}"}).encode(),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE, ids=["nginx-json", "nginx", "envoy-json"])
def test_no_key_no_query_and_no_body_stays_anywhere(store, keys, name, caplog):
    section = type("Section", (), {"tenants": TenantSection(keys=keys)})()
    adapters = Adapters(section, {})
    payload = b"".join(line + b"\n" for line in HOSTILE[name])
    frame = Frame(kind="gateway", format=name, source="gateway", generation="g", offset=0, payload=payload)
    assert DirectDelivery(store, adapters=adapters)([frame]) == [1]
    tables = [
        each
        for (each,) in store.rows(
            Query(sql="SELECT name FROM system.tables WHERE database = currentDatabase()")
        )
    ]
    for table in tables:
        assert SECRET not in repr(store.rows(Query(sql=f"SELECT * FROM {table}"))), table
    assert tenants(store) == ["acme"]
    assert SECRET not in caplog.text
    ((reason, excerpt),) = store.rows(Query(sql="SELECT reason, excerpt FROM dead_letters FINAL"))
    assert reason
    assert excerpt


def test_a_hash_that_a_client_writes_is_its_lines_own(store):
    """Only the first key is the adapter's; one further back is a key like any other."""
    lines = [
        json.dumps({**json.loads(gateway_line(number)), "line_hash": "0" * 32}).encode() for number in (1, 2)
    ]
    counts = store.ingest(LineBatch(kind="gateway", source="gateway", lines=lines))
    assert counts.stored == 2


def test_two_raw_lines_that_differ_only_in_what_is_dropped_are_two_requests(store, tmp_path):
    line = lines_of("envoy")[0]
    path = tmp_path / "access.log"
    path.write_bytes(line + b"\n" + line.replace(b"openai-python", b"openai-node") + b"\n" + line + b"\n")
    (reading,) = read_gateway_files(store, [str(path)], source="gateway")
    assert reading.counts.stored == 3
