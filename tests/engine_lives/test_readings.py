"""How full KV caches were and who fell silent, on the real engine."""

from __future__ import annotations

from fairclock.store.engine_lives import kv_cache_usage, last_heard
from tests.engine_lives.conftest import DAY, UPSTREAM, at


def test_the_kv_cache_is_read_from_scrapes_and_from_the_plugin(books):
    books.sample(15, "vllm:kv_cache_usage_perc", 0.5, engine="0")
    books.sample(30, "vllm:kv_cache_usage_perc", 1, engine="0")
    books.said(20, "state", kv_cache_usage="0.25")
    books.said(21, "state")
    found = kv_cache_usage(books.store, DAY, books.store.watermark())
    assert [(each.engine, each.rank, each.at, each.ratio) for each in found] == [
        (UPSTREAM, "0", at(15), 0.5),
        (UPSTREAM, "0", at(30), 1.0),
        ("engine-1", "0", at(20), 0.25),
    ]


def test_a_target_that_fails_says_since_when_and_why(books):
    books.scrapes([0, 15, 30], -100)
    books.scrapes([45, 60], None, reason="refused")
    books.scrapes([0, 15], None, target="never", reason="no such name")
    books.scrapes([0, 30, 60], -100, target="well")
    found = {each.target: each for each in last_heard(books.store, DAY, books.store.watermark())}
    failing = found[UPSTREAM]
    assert (failing.tried_at, failing.answered_at, failing.failing_since, failing.reason) == (
        at(60),
        at(30),
        at(45),
        "refused",
    )
    assert (found["never"].answered_at, found["never"].failing_since) == (None, at(0))
    assert (found["well"].failing_since, found["well"].suspect_since, found["well"].reason) == (
        None,
        None,
        "",
    )


def test_a_target_is_suspect_since_the_first_of_the_contradictions_that_last(books):
    for number, second in enumerate((0, 15, 30, 45)):
        books.scrapes([second], -100)
        books.sample(second, "fairclock:scrape_samples", 5)
        if number != 1:
            books.sample(second, "fairclock:scrape_suspect", 3, labels='about="a",reason="b"')
    (found,) = last_heard(books.store, DAY, books.store.watermark())
    assert found.suspect_since == at(30)
    books.scrapes([60], -100)
    books.sample(60, "fairclock:scrape_samples", 5)
    (found,) = last_heard(books.store, DAY, books.store.watermark())
    assert found.suspect_since is None
