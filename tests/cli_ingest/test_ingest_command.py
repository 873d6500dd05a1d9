"""The command line of ingest: counts, exit codes, sentences."""

import gzip
import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from fairclock.cli import main
from fairclock.cli.ingest import covered_interval
from fairclock.errors import UsageError
from fairclock.model import Interval
from fairclock.store import Query, open_store
from tests.collectors.otlp_requests import good_span, json_of, request_of

NOON = datetime(2026, 10, 1, 12, tzinfo=UTC)
ALWAYS = Interval(start=datetime(2020, 1, 1, tzinfo=UTC), end=datetime(2030, 1, 1, tzinfo=UTC))


def lines(*seconds):
    keys = {"request_time": "0.100", "status": "200"}
    return b"".join(
        json.dumps({"time": f"{NOON.timestamp() + second:.3f}", **keys}).encode() + b"\n"
        for second in seconds
    )


SPANS = json_of(request_of(good_span(1), good_span(2)))
OTHERS = json_of(request_of(good_span(1, name="http")))


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A store that this process holds: the commands work beside it, as they do beside ``fairclock up``."""
    with open_store(f"chdb://{tmp_path_factory.mktemp('cli')}/store") as store:
        yield store


@pytest.fixture
def store(opened):
    for table in ("gateway_requests", "engine_requests", "dead_letters", "covered"):
        opened.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return opened


@pytest.fixture
def run(store, tmp_path, capsys, monkeypatch):
    """Write files, run the command in their folder, return (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def run(*words, **files):
        for name, content in files.items():
            (tmp_path / name).write_bytes(content)
        with pytest.raises(SystemExit) as stopped:
            main(["ingest", *words, "--dsn", store.dsn])
        captured = capsys.readouterr()
        return stopped.value.code, captured.out, captured.err

    return run


def counts(**changes):
    return {"read": 0, "stored": 0, "duplicates": 0, "ignored": 0, "dead_letters": 0, **changes}


@pytest.mark.parametrize(
    ("words", "files", "code", "expected", "message"),
    [
        pytest.param(["gateway", "log"], {"log": lines(1, 2)}, 0, counts(read=2, stored=2), "", id="a log"),
        pytest.param(
            ["gateway", "log", "log"],
            {"log": lines(1, 2)},
            0,
            counts(read=4, stored=2, duplicates=2),
            "",
            id="a log twice",
        ),
        pytest.param(
            ["gateway", "--format", "nginx-json", "log"],
            {"log": gzip.compress(lines(1) + b"\nbad\n")},
            0,
            counts(read=3, stored=1, ignored=1, dead_letters=1),
            'why dead letters: fairclock query "SELECT reason, count() FROM dead_letters FINAL GROUP BY reason"\n',
            id="dead letters are no failure",
        ),
        pytest.param(
            ["gateway", "log", "prose"],
            {"log": lines(1), "prose": b"prose\n"},
            0,
            counts(read=2, stored=1, dead_letters=1),
            "prose: nothing could be read as a gateway's requests (lines such as 'xxxxx'); ",
            id="one file of another format beside a good one",
        ),
        pytest.param(
            ["gateway", "prose"],
            {"prose": b"prose\n"},
            2,
            counts(read=1, dead_letters=1),
            "prose: nothing could be read",
            id="prose",
        ),
        pytest.param(
            ["gateway", "empty"],
            {"empty": b""},
            2,
            counts(),
            "empty: nothing could be read (an empty file)",
            id="empty",
        ),
        pytest.param(
            ["gateway", "log", "cut"],
            {"log": lines(1), "cut": gzip.compress(lines(2))[:-3]},
            2,
            counts(read=2, stored=2),
            "cut: the gzip data ends in the middle (1 line could be read and stored before); get the whole file",
            id="a truncated gzip",
        ),
        pytest.param(["otlp", "spans"], {"spans": SPANS}, 0, counts(read=2, stored=2), "", id="spans"),
        pytest.param(
            ["otlp", "spans"],
            {"spans": OTHERS},
            0,
            counts(read=1, ignored=1),
            "",
            id="spans of other programs",
        ),
        pytest.param(
            ["otlp", "log"], {"log": b"prose"}, 2, counts(), "log: is not OTLP", id="prose as spans"
        ),
    ],
)
def test_counts_as_json_exit_code_and_sentence(  # noqa: PLR0917 - a table
    run, words, files, code, expected, message
):
    found, out, err = run(*words, "--json", **files)
    assert (found, json.loads(out)) == (code, expected)
    assert err.startswith(message) if message else err == ""
    assert list(json.loads(out)) == ["read", "stored", "duplicates", "ignored", "dead_letters"]
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(
            ["gateway", "log", "missing"],
            "missing: cannot be read (No such file or directory); check the path\n",
            id="missing",
        ),
        pytest.param(
            ["gateway", "log", "."],
            ".: is a directory, not a file; name its files, such as ./*\n",
            id="a directory",
        ),
        pytest.param(
            ["gateway", "-", "-"], "-: standard input can be read once only; give - once\n", id="- twice"
        ),
        pytest.param(
            ["gateway", "--covers", "2026-10-01", "log"],
            "--covers: not FROM..TO (2026-10-01); write 2026-10-01Z..2026-11-01Z\n",
            id="half an interval",
        ),
        pytest.param(
            ["gateway", "--format", "apache", "log"],
            "--format: there is no such format (apache); the formats are ",
            id="an unknown format",
        ),
        pytest.param(["gateway"], "Usage: ", id="no file"),
    ],
)
def test_wrong_usage_is_one_sentence_and_begins_nothing(run, store, words, message):
    code, out, err = run(*words, log=lines(1))
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert store.rows(Query(sql="SELECT count() FROM gateway_requests")) == [(0,)]


def test_a_person_reads_a_sentence(run):
    assert (
        run("gateway", "log", log=lines(*range(1500)))[1]
        == "1,500 lines read: 1,500 stored, 0 already there, 0 ignored, 0 dead letters\n"
    )
    assert (
        run("otlp", "spans", spans=SPANS)[1]
        == "2 spans read: 2 stored, 0 already there, 0 ignored, 0 dead letters\n"
    )


def test_quiet_leaves_the_result(run):
    code, out, err = run("gateway", "--quiet", "log", log=lines(1) + b"bad\n")
    assert (code, out, err) == (0, "2 lines read: 1 stored, 0 already there, 0 ignored, 1 dead letters\n", "")


def test_a_declared_interval_and_a_source_are_kept(run, store):
    run("gateway", "--covers", "2026-10-01Z..2026-10-02+08:00", "--source", "eu-1", "log", log=lines(1))
    assert store.rows(Query(sql="SELECT kind, source FROM covered")) == [("gateway", "eu-1")]
    (covered,) = store.covered("gateway", ALWAYS, store.watermark())
    assert (covered.start, covered.end) == (
        datetime(2026, 10, 1, tzinfo=UTC),
        datetime(2026, 10, 1, 16, tzinfo=UTC),
    )


SHANGHAI = timezone(timedelta(hours=8))


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        pytest.param(
            "2026-10-01Z..2026-11-01Z",
            datetime(2026, 10, 1, tzinfo=UTC),
            datetime(2026, 11, 1, tzinfo=UTC),
            id="dates",
        ),
        pytest.param(
            "2026-10-01+08:00 .. 2026-10-01T06:30:00.5+08:00",
            datetime(2026, 10, 1, tzinfo=SHANGHAI),
            datetime(2026, 10, 1, 6, 30, 0, 500_000, tzinfo=SHANGHAI),
            id="a date and an instant",
        ),
    ],
)
def test_covered_intervals(text, start, end):
    assert covered_interval(text) == Interval(start=start, end=end)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("2026-10-01..2026-11-01", "the instant has no zone", id="dates without a zone"),
        pytest.param(
            "2026-10-01T00:00..2026-11-01Z", "the instant has no zone", id="an instant without a zone"
        ),
        pytest.param("yesterday..today", "not an instant", id="words"),
        pytest.param("2026-10-01Z..", "not an instant", id="no end"),
        pytest.param("2026-11-01Z..2026-10-01Z", "ends before it begins", id="the wrong way round"),
        pytest.param("2026-10-01Z..2026-10-01Z", "ends before it begins", id="no time at all"),
        pytest.param("2026-13-01Z..2027-01-01Z", "not an instant", id="a thirteenth month"),
    ],
)
def test_intervals_that_are_none(text, problem):
    with pytest.raises(UsageError) as refused:
        covered_interval(text)
    assert refused.value.problem == problem


def test_the_bar_is_for_terminals_only(run, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # what rich takes for a terminal
    assert "reading" in run("gateway", "log", log=lines(1))[2]
    assert "reading" not in run("gateway", "--quiet", "log", log=lines(1))[2]
