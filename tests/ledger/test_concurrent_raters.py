"""Of those who rate the same hours the one that read last is right, whoever adds to the ledger last."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from billing.bookkeeping import rating as rating_module
from fairclock.cli import ledger_rating, main
from fairclock.model import Interval
from fairclock.store.ledger_ratings import RatingState, keep_rating, unfinished_ratings
from tests.ledger.factories import HOUR, START, ByTokens, a_usage
from tests.ledger.test_bookkeeping import faults, owed, rated

ROOT = Path(__file__).parents[2]
BOOK = Path(__file__).parent / "prices.yaml"


class Source:
    """Usage of one hour that grows as it is read later."""

    def __init__(self, store, tenant, place):
        self.store = store
        self.hour = Interval(start=START + place * HOUR, end=START + (place + 1) * HOUR)
        self.usage = a_usage(tenant=tenant, start=self.hour.start, end=self.hour.end)
        self.known = [(store.watermark(), self.usage)]
        self.read_at = []

    def grow(self, requests):
        self.known.append((self.store.watermark(), replace(self.usage, requests=requests)))

    def read(self, as_of):
        self.read_at.append(as_of)
        return [[usage for since, usage in self.known if since <= as_of][-1]]

    def owed(self):
        """Return what is right now."""
        return sum(charge.amount for charge in ByTokens().rate(self.known[-1][1]).charges)

    def rate(self, as_of=None):
        return rated(self.store, self.read, window=self.hour, as_of=as_of)


def test_who_read_before_another_rated_reads_again_and_undoes_nothing(store):
    source = Source(store, "older", 5)
    source.rate()
    earlier = store.watermark()
    source.grow(20)
    source.rate()
    assert source.rate(as_of=earlier).entries == 0
    assert owed(store, "older") == source.owed()
    assert source.read_at[-1] > earlier


@pytest.mark.parametrize(
    "moment", ["before it looks at the ledger", "after it looked at the ledger and before it adds"]
)
@pytest.mark.parametrize(
    "is_first", [True, False], ids=["nothing is in the ledger", "the ledger says what the newer one wants"]
)
def test_a_newer_rater_who_comes_through_while_an_older_one_works_holds(store, monkeypatch, moment, is_first):
    place = 10 + 2 * is_first + (moment[0] == "b")
    tenant = f"between-{place}"
    source = Source(store, tenant, place)
    source.grow(20)
    if not is_first:
        source.rate()
    # A, B, A: what the older one read differs from both
    stale = store.watermark()
    source.known.insert(-1, (stale, replace(source.usage, requests=15)))
    source.known[-1] = (store.watermark(), source.known[-1][1])
    assert source.read(stale)[0].requests == 15
    came = []

    def newer():
        if not came:
            came.append(source.rate())

    real_compare = rating_module._compared
    real_read = source.read

    def read(as_of):
        found = real_read(as_of)
        if as_of == stale:
            newer()
        return found

    def compared(*arguments):
        found = real_compare(*arguments)
        if not came:
            came.append(None)
            source.rate()
        return found

    if moment[0] == "b":
        rated(store, read, window=source.hour, as_of=stale)
    else:
        monkeypatch.setattr(rating_module, "_compared", compared)
        rated(store, source.read, window=source.hour, as_of=stale)
    assert came
    assert owed(store, tenant) == source.owed()
    assert source.rate().entries == 0
    assert faults(store) == []


def test_raters_at_once_with_late_usage_come_to_what_the_last_reading_says(store):
    sources = [Source(store, f"crowd-{number}", 30) for number in range(3)]

    def read(as_of):
        return [usage for each in sources for usage in each.read(as_of)]

    def late(requests):
        for each in sources:
            each.grow(requests)
        return rated(store, read, window=sources[0].hour)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(late, [20, 30, 40]))
    assert [owed(store, each.usage.tenant) for each in sources] == [each.owed() for each in sources]
    assert rated(store, read, window=sources[0].hour).entries == 0
    assert unfinished_ratings(store, store.watermark()) == {}
    assert faults(store) == []


@pytest.fixture
def ledger(store, capsys, monkeypatch):
    """Run a command of the ledger; usage is `used`, whatever was stored."""
    used = [a_usage(tenant="ordered", start=START + 26 * HOUR, end=START + 27 * HOUR)]

    def run(*words, prices=BOOK):
        monkeypatch.setattr(
            ledger_rating, "usages_of",
            lambda store_, book, window, **_: [each for each in used if window.start <= each.start < window.end],
        )  # fmt: skip
        with pytest.raises(SystemExit) as end:
            main(["ledger", *words, "--prices", str(prices), "--json", "--dsn", store.dsn])
        assert not end.value.code
        return json.loads(capsys.readouterr().out)

    run.used = used
    return run


def test_a_month_that_was_rated_by_other_prices_is_rated_again_by_those_of_the_ledger(
    store, ledger, tmp_path
):
    other = tmp_path / "other.yaml"
    other.write_text(
        BOOK.read_text().replace("id: ", "id: other-", 1).replace("base_fee: 0.0002", "base_fee: 0.0004")
    )
    ledger("rate", "--month", "2026-10")
    ledger("rate")
    right = owed(store, "ordered")
    assert right > 0
    ledger("rate", "--month", "2026-10", prices=other)
    assert owed(store, "ordered") > right
    assert ledger("rate")["hours"] >= 744
    assert owed(store, "ordered") == right
    assert ledger("rate")["hours"] < 744


def test_hours_that_other_prices_came_to_while_the_rest_was_rated_are_rated_again(
    store, ledger, tmp_path, monkeypatch
):
    other = tmp_path / "other.yaml"
    other.write_text(
        BOOK.read_text().replace("id: ", "id: third-", 1).replace("base_fee: 0.0002", "base_fee: 0.0005")
    )
    ledger("rate", "--month", "2026-10")
    ledger("rate")
    right = owed(store, "ordered")

    def others_first(*words, **said):
        monkeypatch.setattr(ledger_rating, "keep_rating", keep_rating)
        ledger("rate", "--month", "2026-10", prices=other)
        return keep_rating(*words, **said)

    ledger("rate", "--month", "2026-10", prices=other)
    monkeypatch.setattr(ledger_rating, "keep_rating", others_first)
    ledger("rate")
    assert owed(store, "ordered") > right
    ledger("rate")
    assert owed(store, "ordered") == right


@pytest.mark.parametrize(
    ("words", "killed_in"),
    [
        pytest.param(("rate", "--month", "2026-10"), "post", id="rate --month"),
        pytest.param(("close", "--month", "2026-10"), "post", id="close"),
    ],
)
def test_what_a_killed_command_may_have_left_half_done_is_rated_by_the_next(
    store, ledger, monkeypatch, words, killed_in
):
    ledger("rate", "--month", "2026-10")
    ledger("rate")

    def dies(*_):
        raise KeyboardInterrupt

    ledger.used[0] = replace(ledger.used[0], requests=ledger.used[0].requests + 7)
    with monkeypatch.context() as patch:
        patch.setattr(rating_module, killed_in, dies)
        with pytest.raises(AssertionError):
            ledger(*words)
    (window,) = unfinished_ratings(store, store.watermark()).values()
    assert ledger("rate")["entries"] == 2
    assert window.start < START
    # whoever began it may still live: what it left is rated again until that is too long ago
    assert list(unfinished_ratings(store, store.watermark()).values()) == [window]
    monkeypatch.setattr(ledger_rating, "OTHERS_LIVE", timedelta())
    assert ledger("rate")["entries"] == 0
    assert unfinished_ratings(store, store.watermark()) == {}


def test_a_rating_that_begins_again_after_another_called_it_done_is_not_done(store):
    """As one that was taken for killed while it lived."""
    window = Interval(start=START + 90 * HOUR, end=START + 91 * HOUR)

    def unfinished_after(state):
        keep_rating(
            store, window, state=RatingState(state), as_of=store.watermark(), prices_sha256="", rating="r"
        )
        return "r" in unfinished_ratings(store, store.watermark())

    assert [unfinished_after(state) for state in ("begun", "done", "begun", "done")] == [
        True,
        False,
        True,
        False,
    ]


RATER = """
import sys
from datetime import timedelta
from tests.ledger.factories import HOUR, START, UTC_MONTHS, ByTokens, a_usage
from billing.bookkeeping.rating import rate
from fairclock.model import Interval
from fairclock.store import open_store
with open_store(sys.argv[1]) as store:
    assert not store.is_holder
    begun = store.watermark()
    print("here", flush=True)
    sys.stdin.readline()
    start = START + 500 * HOUR
    window = Interval(start=start, end=start + 6 * HOUR)
    def read(as_of):
        requests = 12 if as_of > begun else 3
        return [a_usage(tenant=tenant, start=start + hour * HOUR, end=start + (hour + 1) * HOUR, requests=requests)
                for tenant in ("process-a", "process-b") for hour in range(6)]
    for as_of in (store.watermark() + timedelta(microseconds=1), begun, begun):
        rate(store, read, window, as_of=as_of, prices=ByTokens(), months=UTC_MONTHS)
"""


@pytest.mark.integration
def test_two_processes_through_the_front_of_one_folder_leave_what_one_would(store):
    children = [
        subprocess.Popen(
            [sys.executable, "-c", RATER, store.dsn], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]  # fmt: skip
    assert [each.stdout.readline() for each in children] == ["here\n"] * 2
    for each in children:
        each.stdin.write("\n")
        each.stdin.flush()
    said = [each.communicate(timeout=120) for each in children]
    assert [each.returncode for each in children] == [0, 0], said
    hour = sum((charge.amount for charge in ByTokens().rate(a_usage(requests=12)).charges), start=Fraction(0))
    assert [owed(store, tenant) for tenant in ("process-a", "process-b")] == [6 * hour, 6 * hour]
    assert unfinished_ratings(store, store.watermark()) == {}
    assert faults(store) == []
