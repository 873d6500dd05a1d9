"""Scrapes in a real store: each value and histogram once, whole numbers exact, what is no use with its reason."""

from __future__ import annotations

import gzip
import json
import math
import os
from datetime import UTC, datetime, timedelta

import pytest

from collectors.vllm_metrics.adapting import lines_of_scrape
from collectors.vllm_metrics.files import read_metrics_files
from collectors.vllm_metrics.frames import Scrape, frame_of
from exporters.clickhouse.batches import Gathering
from fairclock.cli import main
from fairclock.errors import InputError, UsageError
from fairclock.model import Interval, to_us
from fairclock.model.buckets import quantile_bounds
from fairclock.model.counters import increases
from fairclock.model.histogram_increases import histogram_increases
from fairclock.store import IngestCounts, Query, open_store
from fairclock.store.engine_inspection import engine_figures
from fairclock.store.engine_series import (
    histogram_points_of,
    histograms_query,
    points_of,
    suspicions_of,
    suspicions_query,
    values_query,
)
from tests.vllm_metrics.write_golden import recorded

AT = datetime(2026, 11, 29, 12, tzinfo=UTC)
TABLES = ("engine_samples", "engine_histograms", "dead_letters", "covered")


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('store') / 'store'}") as opened:
        yield opened


@pytest.fixture
def store(shared_store):
    for table in TABLES:
        shared_store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return shared_store


def rows(store, sql):
    return store.rows(Query(sql=sql))


def deliver(store, *scrapes):
    """Store scrapes as the writer does; return the counts by kind."""
    gathering = Gathering({"metrics": lines_of_scrape})
    gathering.add([frame_of(scrape, source="vllm") for scrape in scrapes])
    assert gathering.unreadable == []
    counts: dict[str, IngestCounts] = {}
    for batch in gathering.batches():
        counts[batch.kind] = counts.get(batch.kind, IngestCounts()) + store.ingest(batch)
    return counts


def scrape(text, **changes):
    return Scrape(**{"target": "a:8000", "at_us": to_us(AT), "content": text.encode(), **changes})


def saved(tmp_path, text, name="scrape.txt"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def totals(readings):
    return sum((reading.counts for reading in readings), IngestCounts())


class TestRows:
    def test_a_value_is_kept_with_what_tells_it_apart(self, store):
        deliver(
            store,
            scrape('vllm:request_success_total{engine="1",model_name="m",finished_reason="st\\"op"} 8.0\n'),
        )
        assert rows(
            store,
            "SELECT target, kind, engine, model, labels, whole, fraction, value, scraped_at, source FROM engine_samples"
            " WHERE name = 'vllm:request_success'",
        ) == [("a:8000", "counter", "1", "m", 'finished_reason="st\\"op"', 8, None, 8.0, AT, "vllm")]

    def test_a_number_is_kept_as_what_it_is(self, store):
        numbers = {
            "9007199254740993": (2**53 + 1, None),
            "-5.0": (-5, None),
            "0.125": (None, 0.125),
            "1.8446744073709552e+19": (None, 2.0**64),
            "+Inf": (None, math.inf),
            "NaN": (None, None),
        }
        deliver(store, scrape("".join(f'm{{text="{text}"}} {text}\n' for text in numbers)))
        found = rows(store, "SELECT labels, whole, fraction FROM engine_samples WHERE name = 'm'")
        assert {labels: (whole, fraction) for labels, whole, fraction in found} == {
            f'text="{text}"': kept for text, kept in numbers.items()
        }

    def test_a_histogram_is_one_row(self, store):
        deliver(
            store,
            scrape('h_bucket{le="0.3"} 1\nh_bucket{le="+Inf"} 2\nh_sum 0.75\nh_count 2\nh_created 1.7e9\n'),
        )
        assert rows(store, "SELECT name, edges, counts, sum, count, since_us FROM engine_histograms") == [
            ("h", [0.3, math.inf], [1, 2], 0.75, 2, 1_700_000_000_000_000)
        ]

    def test_delivered_again_it_adds_nothing(self, store):
        first = deliver(store, scrape("", content=recorded("after-abort")))
        again = deliver(store, scrape("", content=recorded("after-abort")))
        assert again["sample"].duplicates == first["sample"].stored > 60
        assert again["histogram"].duplicates == first["histogram"].stored > 15
        for table in ("engine_samples", "engine_histograms"):
            assert rows(store, f"SELECT count() FROM {table} FINAL") == rows(
                store, f"SELECT uniqExact(name, engine, labels, content_hash) FROM {table}"
            )

    def test_rows_that_differ_in_anything_are_two(self, store):
        base = scrape("m 1\n")
        others = [
            scrape("m 2\n"), scrape("m 1.5\n"), scrape("m NaN\n"), scrape('m{a="1"} 1\n'), scrape("m 1 5\n"),
            scrape("m 1\n", target="b"), scrape("m 1\n", at_us=to_us(AT) + 1), scrape("# TYPE m counter\nm 1\n"),
            scrape('vllm:num_requests_running{engine="1"} 1\n'), scrape('vllm:num_requests_running{model_name="1"} 1\n'),
        ]  # fmt: skip
        deliver(store, base, *others)
        wanted = "name IN ('m', 'vllm:num_requests_running')"
        assert rows(store, f"SELECT count() FROM engine_samples FINAL WHERE {wanted}") == [(1 + len(others),)]

    def test_bad_lines_are_dead_letters_of_which_no_text_is_kept(self, store):
        counts = deliver(store, scrape('secret{prompt="tell me"} x\nm 1\nh_bucket{le="x"} 1\n'))
        assert counts["sample"].dead_letters == 2
        found = rows(store, "SELECT reason, excerpt, kind FROM dead_letters ORDER BY reason")
        assert [reason for reason, _, _ in found] == ["le: absent or not a number", "value: not a number"]
        assert all("tell" not in excerpt and "secret" not in excerpt for _, excerpt, _ in found)

    def test_an_impossible_time_is_refused(self, store):
        text = 'm 1\nh_bucket{le="1"} 1\n'
        future = to_us(datetime(2200, 1, 1, tzinfo=UTC))
        counts = deliver(store, scrape(text, at_us=0), scrape(text, at_us=future))
        assert counts["sample"].stored + counts["histogram"].stored == 0
        assert rows(store, "SELECT DISTINCT kind, reason FROM dead_letters ORDER BY ALL") == [
            ("histogram", "at: before 2000"),
            ("histogram", "at: more than a day in the future"),
            ("sample", "at: before 2000"),
            ("sample", "at: more than a day in the future"),
        ]


class TestWhatTheScrapeWasLike:
    def figures(self, store):
        return {
            name.removeprefix("fairclock:scrape_"): value
            for name, value in rows(
                store, "SELECT name, value FROM engine_samples WHERE startsWith(name, 'fairclock:')"
            )
        }

    def test_it_is_told_by_series_of_its_own(self, store):
        deliver(store, scrape("m 1\nm 2\nx y\n", took_us=1500))
        assert self.figures(store) == {
            "up": 1, "is_complete": 1, "samples": 1, "bad_lines": 1, "duplicate_samples": 1, "unknown_series": 1,
            "dropped_samples": 0, "took_us": 1500, "suspect": 1,
        }  # fmt: skip

    def test_a_failure_is_told(self, store):
        deliver(store, scrape("", failure="timed out after 5 s"))
        assert rows(store, "SELECT name, value, labels FROM engine_samples") == [
            ("fairclock:scrape_up", 0, 'reason="timed out after 5 s"')
        ]

    def test_an_answer_without_samples_is_a_failure(self, store):
        deliver(store, scrape("<html>\n"))
        assert self.figures(store)["up"] == 0

    def test_a_contradiction_names_the_families(self, store):
        deliver(store, scrape("", content=recorded("after-abort")))
        found = rows(
            store,
            "SELECT value, labels, engine, model FROM engine_samples WHERE name = 'fairclock:scrape_suspect'",
        )
        assert [(value, engine, model) for value, _, engine, model in found] == [(1, "0", "tiny")]
        assert 'about="vllm:time_to_first_token_seconds vllm:request_success"' in found[0][1]


@pytest.fixture(scope="module")
def loaded(shared_store):
    for table in TABLES:
        shared_store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    names = ("started", "under-load", "after-load", "after-abort")
    deliver(
        shared_store,
        *(
            scrape("", content=recorded(name), at_us=to_us(AT) + 15_000_000 * index)
            for index, name in enumerate(names)
        ),
    )
    return shared_store


class TestReadingBack:
    """What vLLM said before a load, after it, and after a client left."""

    WINDOW = Interval(start=AT - timedelta(minutes=10), end=AT + timedelta(minutes=10))
    EDGES = (to_us(AT) - 1, to_us(AT) + 600_000_000)

    def increase(self, store, name):
        found = points_of(store.rows(values_query(name, self.WINDOW, store.watermark())))
        return {key.labels: increases(points, self.EDGES)[0] for key, points in found.items()}

    def test_increases_are_those_of_the_load(self, loaded):
        ended = self.increase(loaded, "vllm:request_success")
        assert {labels: each.counted for labels, each in ended.items()} == {
            'finished_reason="stop"': 0, 'finished_reason="length"': 7, 'finished_reason="abort"': 0,
            'finished_reason="error"': 0, 'finished_reason="repetition"': 0,
        }  # fmt: skip
        tokens = self.increase(loaded, "vllm:generation_tokens")[""]
        assert type(tokens.counted) is int
        assert 7 * 1500 < tokens.counted < 7 * 1500 + 100

    def test_increases_of_histograms_are_too(self, loaded):
        rows_ = loaded.rows(
            histograms_query("vllm:time_to_first_token_seconds", self.WINDOW, loaded.watermark())
        )
        (points,) = histogram_points_of(rows_).values()
        found = histogram_increases(points, self.EDGES)[0]
        assert found.counts is not None
        assert found.counts[-1] == 8
        assert quantile_bounds(found.edges, found.counts, numerator=1, denominator=2).is_computable

    @pytest.mark.parametrize(
        ("families", "count"),
        [((), 1), (("vllm:request_success",), 1), (("vllm:prompt_tokens",), 0)],
        ids=["anything", "a family that is suspect", "another one"],
    )
    def test_what_is_suspect_says_so(self, loaded, families, count):
        found = loaded.rows(suspicions_query(self.WINDOW, loaded.watermark()))
        suspicions = suspicions_of(found, families=families)
        assert [each.scrapes for each in suspicions] == [1] * count

    def test_a_look_at_the_store_finds_the_names_and_what_is_suspect(self, loaded):
        deliver(loaded, scrape("odd 1\n", at_us=to_us(AT) + 90_000_000, target="other"))
        found = engine_figures(loaded._connection)
        assert {("odd", 1), ("vllm:prompt_tokens", 1), ("vllm:e2e_request_latency_seconds", 1)} <= set(
            found.names
        )
        assert [(target, engine, count) for target, engine, _, count in found.suspect] == [("a:8000", "0", 1)]
        assert found.dropped == ()

    def test_labels_can_be_asked_for_by_name(self, loaded):
        assert rows(
            loaded,
            "SELECT DISTINCT labelled['finished_reason'] AS reason FROM engine_samples"
            " WHERE name = 'vllm:request_success' ORDER BY reason LIMIT 2",
        ) == [("abort",), ("error",)]


class TestFiles:
    def test_counts_are_of_lines(self, store, tmp_path):
        body = recorded("lora-under-load")
        found = totals(read_metrics_files(store, [saved(tmp_path, body)], source="metrics", at=AT))
        assert (found.read, found.stored, found.ignored, found.dead_letters) == (433, 431, 2, 0)

    def test_the_same_file_twice_is_one_scrape(self, store, tmp_path):
        text = b'm 1\nh_bucket{le="1"} 1\nh_bucket{le="+Inf"} 1\nx y\n'
        path, packed = saved(tmp_path, text), saved(tmp_path, gzip.compress(text), "scrape.txt.gz")
        first = totals(read_metrics_files(store, [path, path], source="metrics", at=AT))
        assert (first.read, first.stored, first.duplicates, first.dead_letters) == (8, 3, 3, 2)
        again = totals(read_metrics_files(store, [packed], source="other", at=AT))
        assert (again.read, again.stored, again.duplicates, again.dead_letters) == (4, 0, 3, 1)
        assert rows(store, "SELECT count() FROM dead_letters FINAL") == [(1,)]

    def test_without_a_time_it_is_the_file_s(self, store, tmp_path):
        path = saved(tmp_path, "m 1\n")
        os.utime(path, ns=(0, 1_795_996_478_207_045_999))
        read_metrics_files(store, [path], source="metrics")
        assert rows(
            store, "SELECT DISTINCT toUnixTimestamp64Micro(scraped_at), target FROM engine_samples"
        ) == [(1_795_996_478_207_045, "saved")]

    def test_standard_input_needs_a_time(self, store):
        with pytest.raises(UsageError, match="--at"):
            read_metrics_files(store, ["-"], source="metrics")

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            pytest.param("", "an empty file", id="an empty file"),
            pytest.param("\n \n", "blank lines only", id="blank lines"),
            pytest.param("# HELP m x\n", "comments only", id="comments"),
            pytest.param("<html>\n", "1 line, none of them a sample", id="a page"),
            pytest.param(
                '{"time":"1","request_time":"2"}\n', "fairclock ingest gateway", id="a gateway's log"
            ),
            pytest.param('{"resourceSpans":[]}\n', "fairclock ingest otlp", id="spans"),
        ],
    )
    def test_what_is_no_scrape_is_told(self, store, tmp_path, content, problem):
        found = read_metrics_files(store, [saved(tmp_path, content)], source="metrics", at=AT)
        assert isinstance(found[0].problem, InputError)
        assert problem in str(found[0].problem)
        assert rows(store, "SELECT count() FROM engine_samples") == [(0,)]

    def test_a_file_that_breaks_off_is_kept_as_far_as_it_goes(self, store, tmp_path):
        whole = gzip.compress(recorded("after-load"))
        found = read_metrics_files(store, [saved(tmp_path, whole[:-2000])], source="metrics", at=AT)
        assert not found[0].complete
        assert 0 < totals(found).stored < 430


class TestCommand:
    @pytest.fixture
    def run(self, store, tmp_path, capsys, monkeypatch):
        """Run ``ingest metrics`` beside the process that holds the store; return (exit code, stdout, stderr)."""
        monkeypatch.chdir(tmp_path)

        def run(*words):
            with pytest.raises(SystemExit) as stopped:
                main(["ingest", "metrics", *words, "--dsn", store.dsn])
            captured = capsys.readouterr()
            return stopped.value.code, captured.out, captured.err

        return run

    def test_prints_counts_and_keeps_the_target(self, run, store, tmp_path):
        path = saved(tmp_path, "m 1\nx y\n")
        at = "2026-11-29T20:00:00+08:00"
        code, out, _ = run(path, "--at", at, "--target", "a:8000", "--json")
        assert (code, json.loads(out)) == (
            0, {"read": 2, "stored": 1, "duplicates": 0, "ignored": 0, "dead_letters": 1},
        )  # fmt: skip
        code, out, _ = run(path, "--at", at, "--target", "a:8000", "--json")
        assert json.loads(out)["duplicates"] == 1
        assert rows(store, "SELECT target, scraped_at FROM engine_samples FINAL WHERE name = 'm'") == [
            ("a:8000", AT)
        ]

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            pytest.param(["-"], "--at: standard input has no time of its own", id="standard input without a time"),
            pytest.param(["scrape.txt", "--at", "2026-11-29T20:00:00"], "--at: the instant has no zone", id="a naive time"),
            pytest.param(["scrape.txt", "--at", "2130-01-01T00:00:00Z"], "scrape.txt: nothing of it could be stored", id="a time to come"),
            pytest.param(["absent.txt"], "absent.txt: cannot be read", id="a file that is not there"),
            pytest.param(["page.html"], "page.html: nothing could be read (1 line, none of them a sample)", id="a page"),
        ],
    )  # fmt: skip
    def test_says_what_is_wrong(self, run, tmp_path, words, said):
        saved(tmp_path, "m 1\n")
        saved(tmp_path, "<html>\n", "page.html")
        code, _, err = run(*words)
        assert code == 2
        assert said in err
