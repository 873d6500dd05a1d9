"""What a bundle is made of: the same bytes wherever it is written, other tenants opaque, an issued report as it was issued."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.model import Interval, to_us, utc_text
from fairclock.store.requests import HOUR_US
from sla.bundle import latest_issued, write_bundle, zipped
from sla.bundle.requests import parted
from sla.issuing import reports
from sla.issuing.chains import chain_of
from sla.issuing.day_seals import file_name
from sla.issuing.sealing import HourSeals, due_days, seal_days
from sla.slices import in_force
from tests.bundle.conftest import MONTH, issued_now


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_one_file_holds_it_all_and_is_the_same_each_time(bundled, tmp_path):
    copy = tmp_path / bundled.folder.name
    shutil.copytree(bundled.folder, copy)
    first = zipped(copy).read_bytes()
    for path in copy.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    assert zipped(copy).read_bytes() == first
    with zipfile.ZipFile(copy.with_name(f"{copy.name}.zip")) as archive:
        inside = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    assert inside == _contents(bundled.folder)


def test_a_file_that_is_too_large_for_a_plain_entry_is_in_it(bundled, tmp_path, monkeypatch):
    copy = tmp_path / bundled.folder.name
    shutil.copytree(bundled.folder, copy)
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1_000)
    with zipfile.ZipFile(zipped(copy)) as archive:
        assert archive.testzip() is None
    assert sorted(each.name for each in tmp_path.iterdir()) == [copy.name, f"{copy.name}.zip"]


hours_of_requests = st.dictionaries(st.integers(-3, 40), st.integers(1, 60), max_size=20)


@given(hours=hours_of_requests, minutes=st.integers(0, 59))
def test_requests_are_read_in_parts_that_are_small_and_together_the_window(hours, minutes):
    start = datetime(2026, 10, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    window = Interval(start=start, end=start + timedelta(hours=30))
    first = to_us(start) // HOUR_US
    within = [(first + hour, count) for hour, count in sorted(hours.items()) if 0 <= hour <= 29]
    parts = list(parted(window, within, most=25))
    assert [parts[0].start, *(each.end for each in parts)] == [*(each.start for each in parts), window.end]
    assert (parts[0].start, all(each.start < each.end for each in parts)) == (window.start, True)
    for part in parts:
        whole = [count for number, count in within if _is_within(number, part)]
        assert sum(whole) <= 25 or len(whole) == 1


def _is_within(number, part):
    """Tell whether an hour begins and ends in a part."""
    return to_us(part.start) <= number * HOUR_US and (number + 1) * HOUR_US <= to_us(part.end)


def test_other_tenants_are_nobody_in_it(bundled):
    for name, content in _contents(bundled.folder).items():
        assert b"somebody-else" not in content, name
    requests = pyarrow.parquet.read_table(bundled.folder / "requests.parquet").to_pydict()
    assert set(requests["tenant"]) == {"acme"}
    timeline = pyarrow.parquet.read_table(bundled.folder / "engine_timeline.parquet").to_pydict()
    assert set(timeline["tenant"]) <= {"acme", "other-1"}
    assert timeline["engine"]


def test_requests_say_what_leaves_them_out_and_which_seal_they_are_from(bundled):
    requests = pyarrow.parquet.read_table(bundled.folder / "requests.parquet").to_pydict()
    ids = {each["id"] for each in bundled.report["exclusions"]}
    left_out = [each for each in requests["exclusion"] if each]
    assert left_out
    assert set(left_out) <= ids
    assert len(left_out) == bundled.report["traffic"]["excluded"]
    assert None not in requests["seal"]
    received = requests["received_us"]
    assert received == sorted(received)


def test_an_issued_report_is_bundled_byte_for_byte_in_any_zone_and_so_is_the_one_it_supersedes(
    bundled, store, verify, tmp_path, monkeypatch
):
    with monkeypatch.context() as patched:
        # what was counted for the draft is not counted again
        patched.setattr(reports, "evaluate", lambda *_, **__: bundled.report)
        first = issued_now(store, bundled.path)
    store.execute(_late_request())
    second = issued_now(store, bundled.path)
    assert second.row.number != first.row.number
    issued = latest_issued(store, first.row.contract, MONTH)
    assert issued == second.row
    folder = write_bundle(store, bundled.versions, second.report, tmp_path, as_of=issued.as_of, issued=issued)
    assert (folder / "report.json").read_bytes() == second.content
    assert (folder / "previous_report.json").read_bytes() == first.content
    assert _contents(_written_elsewhere(bundled, store, tmp_path / "elsewhere")) == _contents(folder)
    assert verify.altered_files(folder) == []
    bundle = verify.Bundle(folder)
    found, problems = verify.recomputed(bundle)
    assert problems + verify.compare(bundle.json("report.json"), found)[2] == []
    forged = json.loads(second.content)
    forged["issue"]["supersedes"] = None
    assert verify.compare(forged, found)[2] != []


def _written_elsewhere(bundled, store, folder):
    """Write the bundle of what was issued last with the command, in another zone and with other hashes of words."""
    folder.mkdir()
    environment = {**os.environ, "TZ": "America/New_York", "PYTHONHASHSEED": "7", "LC_ALL": "C.UTF-8"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    run = subprocess.run(
        [
            sys.executable, "-m", "fairclock", "reports", "bundle", str(bundled.path), "--month", MONTH,
            "-o", "out", "--dsn", store.dsn,
        ],
        capture_output=True, text=True, check=False, cwd=folder, env=environment, timeout=300,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == f"out/{bundled.folder.name}\n"
    assert [each.name for each in (folder / "out").iterdir()] == [bundled.folder.name]
    return folder / "out" / bundled.folder.name


def test_seals_of_days_lie_in_it_as_they_were_sent_and_are_held_against_the_requests(
    bundled, store, verify, tmp_path
):
    store.seal(None)
    versions = bundled.versions
    (version,) = in_force(store, versions, store.watermark())
    known = store.watermark()
    seals = HourSeals.read(store, known)
    due = due_days([version], chain_of([], versions[0].id), seals, as_of=known)
    days = {"2026-10-08", "2026-10-09"}
    sealed = seal_days(
        store,
        [each for each in due if each.day.isoformat() in days],
        seals,
        as_of=known,
        software_version="0",
    )
    assert {row.day for row in sealed} == days
    report = {**bundled.report, "as_of": utc_text(store.watermark())}
    as_of = datetime.fromisoformat(report["as_of"])
    folder = write_bundle(store, versions, report, tmp_path, as_of=as_of)
    names = sorted(path.name for path in (folder / "day_seals").iterdir())
    assert names == [file_name(versions[0].id, day, 1) for day in sorted(days)]
    verify.NOTES.clear()
    assert verify.seal_faults(verify.Bundle(folder), _whole(verify, folder)) == []
    assert verify.NOTES == []
    forged = folder / "day_seals" / names[0]
    forged.write_text(
        forged.read_text(encoding="utf-8").replace('"rows": 1', '"rows": 2', 1), encoding="utf-8"
    )
    faults = verify.seal_faults(verify.Bundle(folder), _whole(verify, folder))
    assert faults == [f"day_seals/{names[0]}: its hash is not that of its hours"]


def _whole(verify, folder):
    """Return the month as the program reads it."""
    bundle = verify.Bundle(folder)
    rows = bundle.columns("requests.parquet")
    (tree,), (calendar,) = (bundle.json(f"{name}.json")["versions"] for name in ("contract", "calendar"))
    as_of = verify.instant(bundle.json("manifest.json")["as_of"])
    return verify.Whole([verify.Reading(bundle, verify.Version(tree, calendar, as_of), rows, MONTH)], as_of)


def _late_request():
    from fairclock.store import Query

    columns = "received_at, content_hash, k, tenant, route, model, status, outcome, attempts, responded_us, source, first_wins"
    return Query(
        sql=f"INSERT INTO gateway_requests ({columns}) SELECT received_at + INTERVAL 1 SECOND, content_hash + 1, k, tenant,"
        " route, model, 500, 'server_error', attempts, responded_us, source, 9000000000000000 - toUnixTimestamp64Micro(now64(6))"
        " FROM gateway_requests WHERE model = 'qwen3' ORDER BY received_at DESC LIMIT 3"
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(["--month", "October"], "not a month", id="a month that is none"),
        pytest.param(["--month", "2030-01"], "not in force", id="a month outside the term"),
    ],
)
def test_what_cannot_be_bundled_is_said(bundled, store, tmp_path, words, told):
    from tests.scripted.commands import said

    heard = said(store, "reports", "bundle", bundled.path, *words, "-o", tmp_path)
    assert heard.code in {2, 3}
    assert told in heard.err
    assert list(tmp_path.iterdir()) == []
