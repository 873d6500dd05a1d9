"""GPU rows and events in a real store: typed, told once, read back; and the files that are imported."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta

import pytest

from collectors.gpu.fields import FIELDS
from collectors.gpu.files import ingest_gpu_files
from collectors.gpu.lines import bad_line
from fairclock.errors import InputError, UsageError
from fairclock.model import Interval
from fairclock.store import LineBatch, Query, open_store
from fairclock.store.kinds import KINDS

SECOND = 1_790_000_000
AT = datetime.fromtimestamp(SECOND, UTC)
NUMBER_OF = {"ratio": 0.5, "celsius": 55.5}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('gpu') / 'store'}") as opened:
        yield opened


@pytest.fixture
def store(shared):
    for table in ("gpu_samples", "gpu_events", "dead_letters", "covered"):
        shared.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return shared


def line(**changes):
    said = {
        "gpu": "GPU-a",
        "second": SECOND,
        "host": "node",
        "collector": "nvml",
        "state": "ok",
        "samples": 5,
    }
    return json.dumps({key: value for key, value in (said | changes).items() if value is not None}).encode()


def event(**changes):
    said = {"event": "xid", "at_us": SECOND * 1_000_000, "sequence": 1, "host": "node", "collector": "nvml"}
    return json.dumps(said | {"gpu": "GPU-a", "code": 79} | changes).encode()


def ingest(store, *lines, kind="gpu"):
    return store.ingest(LineBatch(kind=kind, source="gpu", lines=list(lines)))


def rows(store, sql):
    return store.rows(Query(sql=sql))


def test_every_field_has_its_columns_and_every_column_its_field():
    columns = {column for field in FIELDS.values() for column in field.columns}
    assert columns <= set(KINDS["gpu"].columns)
    others = set(KINDS["gpu"].columns) - columns
    assert not [name for name in others if name.endswith(("_mean", "_min", "_max"))]


def test_every_column_comes_back_as_it_was_told(store):
    values = {}
    for number, field in enumerate(FIELDS.values(), start=1):
        most = min(int(field.most), 1 << 53)
        for column in field.columns:
            values[column] = (
                0.5 if field.decimals else min(most, 1_000 * number if most > 65_535 else number % 2)
            )
    about = {
        "parent": "GPU-p", "index": 3, "gpu_instance": 7, "compute_instance": 0, "name": "H100", "bus": "0000:01",
        "driver": "550", "profile": "1g.10gb", "simulated": 1, "energy_millijoules": 300_000,
        "energy_seconds": 1.0, "energy_is_integrated": 1, "process_pids": [1, 0], "process_bytes": [5, None],
        "missing": {"*": "not_offered", "power_milliwatts": "mig"},
    }  # fmt: skip
    assert ingest(store, line(**values, **about)).stored == 1
    names = [
        *values,
        *(name for name in about if name != "index"),
        "gpu_index",
        "sampled_at",
        "source",
    ]
    (found,) = rows(store, f"SELECT {', '.join(names)} FROM gpu_samples FINAL")
    assert dict(zip(names, found, strict=True)) == {
        **values, **{name: value for name, value in about.items() if name != "index"},
        "gpu_index": 3, "sampled_at": AT, "source": "gpu",
    }  # fmt: skip


def test_what_is_not_told_is_null_and_never_zero(store):
    ingest(store, line())
    nullable = [column for field in FIELDS.values() for column in field.columns]
    (found,) = rows(store, f"SELECT {', '.join(nullable)} FROM gpu_samples FINAL")
    assert set(found) == {None}


def test_a_number_that_does_not_fit_its_column_is_null_and_does_not_wrap(store):
    ingest(
        store,
        line(pcie_width=300, power_limit_milliwatts=1 << 40, performance_state=-1, sm_clock_mhz_max="x"),
    )
    assert rows(
        store,
        "SELECT pcie_width, power_limit_milliwatts, performance_state, sm_clock_mhz_max FROM gpu_samples",
    ) == [(None, None, None, None)]


def test_a_device_has_one_row_in_a_second_and_the_first_one_stays(store):
    assert ingest(store, line(samples=5)).stored == 1
    again = ingest(store, line(samples=3), line(samples=5))
    assert (again.stored, again.duplicates) == (0, 2)
    assert rows(store, "SELECT samples FROM gpu_samples FINAL") == [(5,)]


def test_another_device_second_host_or_collector_is_another_row(store):
    others = [{"gpu": "GPU-b"}, {"second": SECOND + 1}, {"host": "other"}, {"collector": "dcgm"}]
    assert ingest(store, line(), *(line(**changes) for changes in others)).stored == 5


def test_two_equal_xids_are_two_events_and_told_again_they_stay_two(store):
    for _ in range(2):
        ingest(store, event(sequence=1), event(sequence=2), kind="gpu_event")
    assert rows(store, "SELECT event, code, count() FROM gpu_events FINAL GROUP BY ALL") == [("xid", 79, 2)]


NO_ROWS = {
    b"hello": "not a JSON object",
    b"[1]": "not a JSON object",
    b"{": "not a JSON object",
    b'{"gpu":"a"}': "second: absent or not a whole number",
    b'{"gpu":"a","second":"soon"}': "second: absent or not a whole number",
    b'{"gpu":"a","second":1}': "second: before 2000",
    b'{"gpu":"a","second":-9223372036854775808}': "second: before 2000",
    b'{"gpu":"a","second":9223372036854775807}': "second: before 2000",
    b'{"gpu":"a","second":8999999999}': "second: more than a day in the future",
    b'{"second":1790000000}': "gpu: absent",
    b"\xff\xfe": "not a JSON object",
    bad_line("3 cells under 12 columns", "secret, text", number=7): "gpu: 3 cells under 12 columns",
}
NO_EVENTS = {
    b"{}": "event: absent",
    b'{"event":"xid"}': "at_us: absent or not a whole number",
    b'{"event":"xid","at_us":5}': "at_us: before 2000",
    b'{"event":"xid","at_us":9000000000000000}': "at_us: more than a day in the future",
}


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [("gpu", line(), NO_ROWS), ("gpu_event", event(), NO_EVENTS)],
    ids=["rows", "events"],
)
def test_what_cannot_be_read_is_a_dead_letter_with_a_reason_and_costs_no_neighbour(store, kind, good, bad):
    counts = ingest(store, good, *bad, b"", kind=kind)
    assert (counts.stored, counts.dead_letters, counts.ignored) == (1, len(bad), 1)
    found = rows(store, "SELECT kind, reason, excerpt FROM dead_letters FINAL")
    assert {row[0] for row in found} == {kind}
    assert sorted(row[1] for row in found) == sorted(bad.values())
    assert not [row for row in found if "secret" in row[2]]


SMI = "timestamp, uuid, utilization.gpu [%], power.draw [W]\n" + "".join(
    f"2026/09/21 14:13:{20 + number // 4:02}.{number % 4 * 250:03}, GPU-a, {number} %, [N/A]\n"
    for number in range(12)
)
DCGM = 'DCGM_FI_DEV_SM_CLOCK{UUID="GPU-a",Hostname="n"} 1980\nDCGM_FI_DEV_XID_ERRORS{UUID="GPU-a",Hostname="n"} 79\n'


def written(tmp_path, text):
    path = tmp_path / "gpus"
    path.write_text(text)
    return [str(path)]


def test_a_stream_of_nvidia_smi_is_folded_to_seconds_and_the_same_again_adds_nothing(store, tmp_path):
    paths = written(tmp_path, SMI + "broken line\n")
    first = ingest_gpu_files(store, paths, form="nvidia-smi", source="gpu", zone=UTC, host="node")
    assert (first.read, first.stored, first.dead_letters) == (4, 3, 1)
    again = ingest_gpu_files(store, paths, form="nvidia-smi", source="gpu", zone=UTC, host="node")
    assert (again.stored, again.duplicates, again.dead_letters) == (0, 3, 1)
    sql = (
        "SELECT sampled_at, samples, utilization_ratio_min, toInt32(round(utilization_ratio_mean * 1000)), utilization_ratio_max,"
        " power_milliwatts_mean, missing['power_milliwatts'] FROM gpu_samples FINAL ORDER BY sampled_at"
    )
    found = rows(store, sql)
    assert [(row[0], row[1], row[3]) for row in found] == [
        (AT, 4, 15), (AT + timedelta(seconds=1), 4, 55), (AT + timedelta(seconds=2), 4, 95),
    ]  # fmt: skip
    assert {row[5:] for row in found} == {(None, "not_available")}
    window = Interval(start=AT - timedelta(hours=1), end=AT + timedelta(hours=1))
    assert store.covered("gpu", window, store.watermark()) == [
        Interval(start=AT, end=AT + timedelta(seconds=2))
    ]


def test_a_saved_scrape_is_a_row_and_its_standing_xid_an_event(store, tmp_path):
    for _ in range(2):
        ingest_gpu_files(
            store, written(tmp_path, DCGM + "}{\n"), form="dcgm", source="gpu", at=AT, host="node"
        )
    assert rows(store, "SELECT gpu, host, collector, sm_clock_mhz_mean FROM gpu_samples FINAL") == [
        ("GPU-a", "n", "dcgm", 1980)
    ]
    assert rows(store, "SELECT event, code FROM gpu_events FINAL") == [("xid_standing", 79)]
    assert len(rows(store, "SELECT reason FROM dead_letters FINAL")) == 1


@pytest.mark.parametrize(
    "text", ["", "hello\n", SMI.partition("\n")[2]], ids=["empty", "something else", "headless"]
)
def test_a_file_that_holds_no_row_is_refused(store, tmp_path, text):
    with pytest.raises(InputError, match="nothing could be read of GPUs"):
        ingest_gpu_files(store, written(tmp_path, text), form="nvidia-smi", source="gpu", zone=UTC)


@pytest.mark.parametrize("form", ["nvidia-smi", "dcgm"])
def test_the_refusal_of_another_file_shows_its_shape_and_nothing_that_stands_in_it(store, tmp_path, form):
    path = written(tmp_path, "GET /v1/x?key=hunter2 HTTP/1.1\n")
    with pytest.raises(InputError, match="such as 'xxx /x9/x") as caught:
        ingest_gpu_files(store, path, form=form, source="gpu", zone=UTC, at=AT)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("form", "path", "message"),
    [("nvidia-smi", "gpus.csv", "name no zone"), ("dcgm", "-", "when it was made")],
)
def test_what_a_file_does_not_say_has_to_be_said(store, form, path, message):
    with pytest.raises(UsageError, match=message):
        ingest_gpu_files(store, [path], form=form, source="gpu")


def test_a_saved_scrape_is_of_the_time_when_its_file_was_changed(store, tmp_path):
    (path,) = written(tmp_path, DCGM)
    os.utime(path, (SECOND, SECOND))
    ingest_gpu_files(store, [path], form="dcgm", source="gpu")
    assert rows(store, "SELECT sampled_at FROM gpu_samples") == [(AT,)]


def test_a_long_stream_out_of_order_loses_no_second(store, tmp_path):
    header = "timestamp, uuid, utilization.gpu [%]\n"
    times = [AT + timedelta(seconds=second) for second in range(400)]
    lines = [f"{at:%Y/%m/%d %H:%M:%S}.000, GPU-a, 5 %\n" for at in (*times[200:], *times[:200])]
    counts = ingest_gpu_files(
        store, written(tmp_path, header + "".join(lines)), form="nvidia-smi", source="gpu", zone=UTC
    )
    assert counts.stored == 400
