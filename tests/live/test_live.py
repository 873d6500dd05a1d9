"""Real nginx, real vLLM, real spans, and clients with watches of their own."""

import json

import pytest

from fairclock.model import Outcome
from tests.live.life import REQUESTS

pytestmark = pytest.mark.integration


def test_every_request_is_logged_once(result):
    assert result.comparison.unmatched == ()
    assert result.comparison.logged == result.comparison.sent == REQUESTS


def test_every_outcome_is_what_the_client_did(result):
    assert result.comparison.wrong_outcomes == ()
    counts = result.comparison.outcomes
    assert set(counts) == {
        Outcome.OK,
        Outcome.CLIENT_ABORTED,
        Outcome.CLIENT_ERROR,
        Outcome.QUOTA_REJECTED,
    }
    assert sum(counts.values()) == REQUESTS
    assert counts[Outcome.OK] > REQUESTS / 2
    assert min(counts.values()) >= 4


def test_end_to_end_is_what_the_client_measured(result):
    # beyond what both took to hear each other: on a machine with much else to do that alone is as long
    assert result.comparison.median_unexplained_us <= 20_000
    assert min(seen.lag_us for seen in result.seen) > 0


def test_queue_sums_to_vllms_own_counter(result):
    found = result.comparison
    assert found.engine_queue_us > 1_000_000
    assert abs(found.queue_us - found.engine_queue_us) <= found.engine_queue_us / 100


def test_every_finished_request_is_joined_to_its_own_engine_row(result):
    found = result.comparison
    assert found.joined == found.engine_finished >= found.outcomes[Outcome.OK]
    assert found.wrong_joins == ()
    assert found.ok_without_engine == 0


def test_queueing_is_what_makes_the_p99(result):
    assert result.comparison.p99_excluding_queue_us < result.comparison.p99_end_to_end_us


def test_all_of_it_agrees(result):
    assert result.comparison.disagreements == ()
    assert result.agrees


def test_the_report_is_of_this_traffic(result):
    assert {path.suffix for path in result.reports} >= {".json", ".html", ".pdf"}
    assert all(path.stat().st_size > 0 for path in result.reports)
    path = next(path for path in result.reports if path.suffix == ".json")
    report = json.loads(path.read_text())
    assert report["simulated"] is False
    assert report["traffic"]["admitted"] == REQUESTS
    assert report["traffic"]["unconfirmed"] == 0
    assert report["traffic"]["outcomes"]["ok"] == result.comparison.outcomes[Outcome.OK]
    p99 = {row["clock"]: row["p99"] for row in report["latency"]}
    assert p99["end_to_end"] == result.comparison.p99_end_to_end_us / 1e6
    assert p99["excluding_queue"] == result.comparison.p99_excluding_queue_us / 1e6
