"""What is worked out aside: a part that fails takes no other with it, and counting goes on where it was heard last."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import ClassVar

import pytest

from exporters.prometheus import Figure, Format
from exporters.prometheus.bounds import Admitted
from exporters.prometheus.configuration import MetricsSection
from exporters.prometheus.snapshot import Snapshots
from fairclock.cli.configuration import Configuration
from fairclock.cli.pipeline.looked import Looked
from fairclock.cli.pipeline.metrics import sources
from fairclock.cli.pipeline.metrics.position import Position
from fairclock.cli.pipeline.metrics.publisher import Publisher, Source
from fairclock.cli.pipeline.metrics.serving import why_untold
from fairclock.errors import StoreError
from tests.evaluation.factories import a_contract, latency

NOW = datetime(2026, 10, 7, 12, tzinfo=UTC)


class Clock:
    """A store whose watermark is moved, and a clock that goes with it."""

    def __init__(self):
        self.seconds = 0.0
        self.is_away = False

    def monotonic(self):
        return self.seconds

    def watermark(self):
        if self.is_away:
            raise StoreError("store", "is away")
        return NOW + timedelta(seconds=self.seconds)


def gauge(name, value=1):
    return Figure(name=name, about="x", value=value)


def test_a_part_that_fails_stands_as_it_was_until_it_is_too_old_and_the_others_go_on():
    clock, snapshots, broken = Clock(), Snapshots(), []

    def failing(_, __):
        if broken:
            raise broken[0]
        return [gauge("fairclock_gauge")]

    publisher = Publisher(
        store=lambda: clock, snapshots=snapshots, every_seconds=15, now=clock.watermark, monotonic=clock.monotonic,
        sources=[
            Source(name="gauges", read=failing, keep_seconds=60),
            Source(name="counters", read=lambda _, as_of: [gauge("fairclock_other", as_of.timestamp())]),
            Source(name="seldom", read=lambda _, as_of: [gauge("fairclock_seldom", as_of.timestamp())], every_seconds=100),
        ],
    )  # fmt: skip

    def told():
        publisher.refresh()
        lines = snapshots.text(Format.PLAIN).body.decode().splitlines()
        return dict(line.split(" ") for line in lines if not line.startswith("#"))

    first = told()
    assert set(first) == {"fairclock_gauge", "fairclock_other", "fairclock_seldom"}
    for error in (StoreError("store", "is away"), ValueError("a mistake of ours")):
        broken[:] = [error]
        clock.seconds += 20
        later = told()
        assert later["fairclock_gauge"] == "1.0"
        assert later["fairclock_other"] != first["fairclock_other"]
        assert later["fairclock_seldom"] == first["fairclock_seldom"]
    clock.seconds += 70
    assert set(told()) == {"fairclock_other", "fairclock_seldom"}
    said = {(each.name, each.labels.get("source")): each.value for each in publisher.figures()}
    assert said["fairclock_snapshot_source_failures", "gauges"] == 3
    assert said["fairclock_snapshot_source_failing", "counters"] == 0
    broken.clear()
    assert "fairclock_gauge" in told()


def test_while_the_store_is_away_what_was_told_last_grows_old_and_says_so():
    clock, snapshots = Clock(), Snapshots()
    publisher = Publisher(
        store=lambda: clock, snapshots=snapshots, every_seconds=15, monotonic=clock.monotonic,
        now=lambda: NOW + timedelta(seconds=clock.seconds),
        sources=[
            Source(name="gauges", read=lambda _, __: [gauge("fairclock_gauge")], keep_seconds=60),
            Source(name="counters", read=lambda _, __: [gauge("fairclock_counter")]),
        ],
    )  # fmt: skip
    publisher.refresh()
    clock.is_away = True
    clock.seconds = 90
    publisher.refresh()
    body = snapshots.text(Format.PLAIN).body
    assert (b"fairclock_gauge" in body, b"fairclock_counter" in body) == (False, True)
    assert {each.name: each.value for each in publisher.figures()}["fairclock_snapshot_age_seconds"] == 90


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "begun"),
        ("no JSON", "begun"),
        ('{"told_us": "x"}', "begun"),
        ("told", "told"),
        ("after", "begun"),
        ("long ago", "begun"),
    ],
    ids=["nothing there", "damaged", "no instant", "what was told last", "beyond what is committed", "more than a week ago"],
)  # fmt: skip
def test_counting_begins_where_it_was_told_last_or_where_the_process_began(tmp_path, content, expected):
    begun = NOW - timedelta(minutes=1)
    instants = {
        "begun": begun, "told": NOW - timedelta(hours=3), "after": NOW + timedelta(hours=1), "long ago": NOW - timedelta(days=8),
    }  # fmt: skip
    position = Position(tmp_path / "position.json", begun=begun)
    if content in instants:
        position.write(instants[content])
    elif content is not None:
        (tmp_path / "position.json").write_text(content)
    assert position.read(NOW) == instants[expected]


def test_a_folder_that_takes_nothing_keeps_no_scrape_from_being_answered(tmp_path, caplog):
    position = Position(tmp_path / "no" / "position.json", begun=NOW)
    position.write(NOW)
    position.write(NOW)
    assert caplog.text.count("cannot be written") == 1


class Counters:
    """Stands in for the counters: it notes from where it counted."""

    begun: ClassVar[list[datetime]] = []
    is_away: ClassVar[bool] = False

    def __init__(self, *, clocks, pairs, since):
        del clocks, pairs
        Counters.begun.append(since)

    def read(self, store, as_of):
        if Counters.is_away:
            raise StoreError("store", "is away")

    def figures(self, *, told):
        del told
        return [gauge("fairclock_requests")]


def counting(tmp_path, monkeypatch):
    """What counts requests, what it notes, and what hands its figures out."""
    monkeypatch.setattr(sources, "RequestCounters", Counters)
    position, snapshots = Position(tmp_path / "p.json", begun=NOW), Snapshots()
    counted = sources.Counted(
        section=MetricsSection(), looked=Looked(contracts=list), tenants=Admitted(10), snapshots=snapshots,
        position=position,
    )  # fmt: skip
    snapshots.told = counted.told
    return counted, position, snapshots


def test_nothing_is_noted_as_told_while_all_is_0_and_new_edges_go_on_from_what_was(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "RequestCounters", Counters)
    Counters.begun = []
    contracts = []
    position, snapshots = Position(tmp_path / "p.json", begun=NOW), Snapshots()
    counted = sources.Counted(
        section=MetricsSection(), looked=Looked(contracts=lambda: contracts), tenants=Admitted(10), snapshots=snapshots,
        position=position,
    )  # fmt: skip
    snapshots.told = counted.told

    def at(minutes):
        return NOW + timedelta(minutes=minutes)

    def refreshed(minutes, *, scraped):
        snapshots.publish(counted.read(None, at(minutes)), at(minutes))
        if scraped:
            snapshots.text(Format.PLAIN)
        return position.read(at(60))

    assert refreshed(1, scraped=False) == NOW
    assert refreshed(2, scraped=True) == NOW  # it heard zeros
    assert refreshed(3, scraped=False) == NOW
    assert refreshed(4, scraped=True) == at(4)
    contracts.append([a_contract(objectives=[latency(at_most="123ms")])])
    assert refreshed(5, scraped=True) == at(4)
    assert refreshed(6, scraped=True) == at(6)
    assert Counters.begun == [NOW, at(4)]


def test_zeros_that_are_heard_while_the_first_counts_are_worked_out_are_not_noted_as_counts(
    tmp_path, monkeypatch
):
    counted, position, snapshots = counting(tmp_path, monkeypatch)
    first, second, third = (NOW + timedelta(minutes=minutes) for minutes in (1, 2, 3))
    snapshots.publish(counted.read(None, first), first)
    zeros = counted.read(None, second)  # before anybody heard the first
    snapshots.text(Format.PLAIN)
    snapshots.publish(zeros, second)
    counts = counted.read(None, third)
    snapshots.text(Format.PLAIN)  # the zeros, while the counts are not published yet
    assert position.read(third) == NOW
    snapshots.publish(counts, third)
    snapshots.text(Format.PLAIN)
    assert position.read(third) == third


def test_counts_that_could_not_be_worked_out_are_not_noted_as_told(tmp_path, monkeypatch):
    counted, position, snapshots = counting(tmp_path, monkeypatch)
    now = NOW
    publisher = Publisher(
        store=lambda: SimpleNamespace(watermark=lambda: now), snapshots=snapshots, every_seconds=15, now=lambda: now,
        sources=[Source(name="requests", read=counted.read)],
    )  # fmt: skip

    def noted(*, is_away):
        nonlocal now
        now += timedelta(minutes=1)
        monkeypatch.setattr(Counters, "is_away", is_away)
        publisher.refresh()
        snapshots.text(Format.PLAIN)
        return (position.read(now) - NOW) // timedelta(minutes=1)

    assert [noted(is_away=each) for each in (False, False, True, True, False)] == [0, 2, 2, 2, 5]


@pytest.mark.parametrize(
    ("address", "token_file", "is_told"),
    [
        pytest.param("127.0.0.1:8780", None, True, id="on loopback to everybody"),
        pytest.param("[::1]:8780", None, True, id="on loopback of the sixth version, too"),
        pytest.param("0.0.0.0:8780", "/etc/fairclock/metrics-token", True, id="elsewhere for a token"),
        pytest.param(
            "0.0.0.0:8780", None, False, id="to nobody without a token where others reach the address"
        ),
        pytest.param("[::]:8780", None, False, id="nor at all addresses of the sixth version"),
    ],
)
def test_tenants_and_their_money_are_told_on_loopback_or_for_a_token(address, token_file, is_told):
    settings = Configuration.model_validate(
        {"http": {"address": address}, "metrics": {"token_file": token_file}}
    )
    assert (why_untold(settings) == "") is is_told
