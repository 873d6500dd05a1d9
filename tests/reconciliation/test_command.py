"""`fairclock probe reconcile`: what it prints for people and programs, its exit codes, and probes from a file."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from fairclock.cli.probe_reconcile import _probes_in
from fairclock.model.probes import ProbeOutcome
from fairclock.store import LineBatch, open_store
from fairclock.store.probes import keep_probes
from inference_probe.prober.observations import Observation
from inference_probe.prober.result_files import Result, write_result
from tests.reconciliation.factories import (
    ARRIVED,
    DONE,
    FIRST,
    FOUR_MINUTES_US,
    LAST,
    QUEUED,
    RESPONDED,
    SCHEDULED,
    SECOND,
    START,
    a_probe,
    engine_line,
    gateway_line,
)
from tests.scripted.commands import said

RANGE = ("--from", START.isoformat(), "--to", (START + 50 * SECOND).isoformat())
ELSEWHERE = range(100, 103)


def a_result():
    """A run on another host, whose probes nobody has kept."""
    seen = []
    for number in ELSEWHERE:
        sent = float(number)
        marks = {"arrived": ARRIVED, "queued": QUEUED, "scheduled": SCHEDULED, "first_token": FIRST}
        marks |= {"last_token": LAST, "responded": RESPONDED}
        truth = {name: 1_000.0 + sent + us / 1e6 for name, us in marks.items()}
        seen.append(
            Observation(
                number=number,
                request_id=f"asked-{number}",
                trace_id="0" * 32,
                intended=sent,
                sent=sent,
                outcome=ProbeOutcome.OK,
                done=sent + DONE / 1e6,
                status=200,
                truth={**truth, "wall_arrived": START.timestamp() + sent + ARRIVED / 1e6},
            )
        )
    header = {
        "run": "elsewhere",
        "mode": "run",
        "started_at": START.timestamp(),
        "endpoint": "http://gateway",
    }
    return Result(header={**header, "endpoints": {}, "model": "tiny", "stream": True}, seen=seen)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('command')}") as store:
        numbers = [*range(4), *ELSEWHERE]
        keep_probes(store, [a_probe(number) for number in range(4)])
        lines = [gateway_line(number) for number in numbers]
        store.ingest(LineBatch(kind="gateway", source="access.log", lines=lines))
        for reporter in ("span", "plugin"):
            lines = [
                engine_line(number, reporter=reporter, ahead_us=FOUR_MINUTES_US if number == 3 else 0)
                for number in numbers
            ]
            store.ingest(LineBatch(kind="engine", source="otlp", lines=lines))
        yield store


def test_where_the_sources_agree_it_says_so_and_ends_with_0(store):
    to = (START + 3 * SECOND).isoformat()
    heard = said(store, "probe", "reconcile", "--from", START.isoformat(), "--to", to)
    assert heard.code == 0, heard.err
    lines = heard.out.splitlines()
    assert lines[0] == "3 probes sent, 3 answered, 3 reconciled, 3 of them with something new"
    assert lines[-1] == "the sources agree"
    assert "plugin   3           3    0" in lines


def test_a_clock_that_is_apart_is_a_problem_and_ends_with_1(store):
    heard = said(store, "probe", "reconcile", *RANGE, "--json")
    assert heard.code == 1, heard.err
    tree = json.loads(heard.out)
    assert tree["probes"] == {"sent": 4, "answered": 4, "failed": 0, "reconciled": 4}
    assert {each["kind"] for each in tree["problems"]} == {"clocks"}
    # it moved between the third and the fourth probe
    moved = {(each["source"], each["against"]): each["moved"] for each in tree["clocks"]}
    assert moved["span", "gateway"] > 239
    assert moved["gateway", "client"] == 0


def test_probes_of_a_run_elsewhere_are_kept_and_reconciled(store, tmp_path):
    path = tmp_path / "run.jsonl"
    write_result(path, a_result())
    heard = said(store, "probe", "reconcile", path)
    assert heard.code == 0, heard.out + heard.err
    assert heard.out.startswith("3 probes sent, 3 answered, 3 reconciled, 3 of them with something new\n")
    again = said(store, "probe", "reconcile", path)
    assert again.out.startswith("3 probes sent, 3 answered, 3 reconciled, 0 of them with something new\n")


@pytest.mark.parametrize(
    ("header", "tenant"),
    [
        pytest.param({"mode": "sweep"}, "fairclock-probe", id="a sweep's file of before speaks for nobody"),
        pytest.param({"mode": "canary"}, "fairclock-probe", id="nor does a canary's"),
        pytest.param({"mode": "run"}, "", id="a run's speaks for everybody"),
        pytest.param(
            {"mode": "run", "speaks_for": "acme"}, "acme", id="a file says itself for whom it speaks"
        ),
    ],
)
def test_the_failures_of_a_run_elsewhere_concern_whom_they_concerned_there(header, tenant, tmp_path):
    path, result = tmp_path / "run.jsonl", a_result()
    write_result(path, replace(result, header={**result.header, "tenant": "fairclock-probe", **header}))
    assert {each.tenant for each in _probes_in(path)} == {tenant}


def test_where_nothing_was_sent_nothing_is_judged(store):
    before = (
        "--from",
        (START - timedelta(days=3)).isoformat(),
        "--to",
        (START - timedelta(days=2)).isoformat(),
    )
    heard = said(store, "probe", "reconcile", *before)
    assert heard.code == 3
    assert "agree" not in heard.out


def test_an_empty_range_is_refused(store):
    heard = said(store, "probe", "reconcile", "--from", START.isoformat(), "--to", START.isoformat())
    assert heard.code == 2
    assert "--to: the range is empty" in heard.err


def test_a_file_whose_header_says_too_little_is_refused(store, tmp_path):
    path = tmp_path / "run.jsonl"
    write_result(path, Result(header={"run": "elsewhere"}, seen=[]))
    path.write_text(path.read_text() + path.read_text().replace("fairclock.probes/1", "other"))
    heard = said(store, "probe", "reconcile", path)
    assert heard.code == 2
    assert f"{path}:" in heard.err
    write_result(path, Result(header={"run": "elsewhere"}, seen=a_result().seen))
    heard = said(store, "probe", "reconcile", path)
    assert (heard.code, "not the header of a probe run" in heard.err) == (2, True)
