"""A run that somebody ends says what it measured until then, and never that this is the whole."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from fairclock.errors import NotEvaluable
from fairclock.model.probes import ProbeOutcome
from fairclock.store import Query, open_store
from inference_probe.prober.endpoints import endpoint
from inference_probe.prober.loading import Loading
from inference_probe.prober.plans import Asking
from inference_probe.prober.result_files import read_result
from inference_probe.prober.sweeping.findings import findings
from inference_probe.prober.sweeping.stages import Sweep, sweep
from tests.prober.factories import an_observation
from tests.prober.loops import run_timeless
from tests.prober.servers import answer, chat_stream, serving
from tests.prober.test_commands import COMMON, called, rows

CANARY_POLICY = (
    "thresholds: {memory_ratio: , mean_ratio: 1000}\nsteps: {every_seconds: 0.2}\nleast_probes: 1\n"
)


@pytest.fixture(scope="module")
def dsn(tmp_path_factory):
    return f"chdb://{tmp_path_factory.mktemp('store')}"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """No configuration of the machine's."""
    monkeypatch.chdir(tmp_path)
    for name in ("FAIRCLOCK_CONFIG", "FAIRCLOCK_DSN"):
        monkeypatch.delenv(name, raising=False)


def until(most, *, number):
    """Answer `most` questions, and at the next one end this process's run as somebody at its terminal would."""
    count = 0

    async def answers(headers, body):
        nonlocal count
        count += "calibration" not in headers["x-request-id"]
        if count == most + 1:
            os.kill(os.getpid(), number)
        if count > most:
            await asyncio.sleep(3600)
        yield answer(chat_stream(body["max_tokens"]))

    return answers


@pytest.mark.parametrize(
    ("words", "most", "number"),
    [
        pytest.param(["--mode", "sweep", "--rates", "30,3000"], 6, signal.SIGINT, id="a sweep of rates by SIGINT"),
        pytest.param(["--mode", "sweep", "--concurrency", "1,2"], 6, signal.SIGTERM, id="a sweep at once by SIGTERM"),
        pytest.param(["--mode", "quality", "--rate", "30"], 6, signal.SIGINT, id="quality"),
        pytest.param(["--mode", "canary", "--rate", "30", "--seed", "1"], 30, signal.SIGTERM, id="a canary in a later step"),
    ],
)  # fmt: skip
def test_what_was_measured_is_written_kept_and_printed_as_cut_short(words, most, number, dsn, tmp_path):
    file, policy = tmp_path / "cut.jsonl", tmp_path / "policy.yaml"
    policy.write_text(CANARY_POLICY)
    with serving(until(most, number=number)) as service:
        more = ["--canary", service.url, "--policy", policy] if "canary" in words else []
        with pytest.raises(NotEvaluable, match="it was cut short") as ended:
            called(service.url, *COMMON, *words, *more, "--duration", 60, "-o", file, "--dsn", dsn)
    assert ended.value.exit_code == 3
    kept = read_result(file)
    assert kept.header["was_stopped"] is True
    outcomes = [each.outcome for each in kept.seen]
    assert 0 < outcomes.count(ProbeOutcome.OK) <= most
    assert set(outcomes) <= {ProbeOutcome.OK, ProbeOutcome.ABORTED, ProbeOutcome.NOT_SENT}
    # a probe that was never due was not one that could not be sent
    stored = [each.outcome for each in rows(dsn, kept.header["run"])]
    assert sorted(stored) == sorted(each for each in outcomes if each is not ProbeOutcome.NOT_SENT)
    assert "cut short" in called("--show", file).stdout
    with open_store(dsn) as store:
        states = store.rows(
            Query(
                sql="SELECT argMax(state, sequence) FROM alerts GROUP BY alert_id HAVING alert_id = {id:String}",
                parameters={"id": f"canary/{kept.header['run']}"},
            )
        )
    # what a step recommended holds no more
    assert states == ([("resolved",)] if "canary" in words else [])


class Ending:
    """It does `rate` requests a second, and ends the run at an instant of it."""

    def __init__(self, rate, stop, at_seconds):
        self._rate, self._stop, self._at = rate, stop, at_seconds

    async def ask(self, question, *, started, intended):
        loop = asyncio.get_running_loop()
        if intended - started >= self._at:
            self._stop.set()
        try:
            await asyncio.sleep(1 / self._rate)
        except asyncio.CancelledError:
            return an_observation(
                question.number, stage=question.stage, outcome=ProbeOutcome.ABORTED, done=None
            )
        return an_observation(
            question.number, stage=question.stage, intended=intended - started, sent=intended - started,
            first_token=loop.time() - started, done=loop.time() - started,
        )  # fmt: skip


def test_a_stage_that_was_cut_short_decides_nothing_and_those_before_it_stand():
    async def run():
        stop = asyncio.Event()
        loading = Loading(
            endpoint=endpoint("http://127.0.0.1:9"),
            asking=Asking(run="r", model="m", tenant="fairclock-probe"),
            bound_seconds=0.05,
            wall=lambda: 1.7e9,
            asks=Ending(100, stop, 30),
        )
        plan = Sweep(
            kind="rate", loads=[1, 2, 4], stage_seconds=20, is_poisson=False, objectives=["end_to_end p95 1"]
        )
        return await sweep(loading, plan, stop=stop)

    found = findings(run_timeless(run()))
    assert [(each.load, each.void) for each in found.stages] == [(1, ""), (2, "cut short")]
    assert (found.breaks_at, found.unmeasured_at) == (
        {"end_to_end p95 1": None},
        {"end_to_end p95 1": [2.0, 4.0]},
    )
    assert (found.was_cut_short, found.is_saturation_known) == (True, False)
