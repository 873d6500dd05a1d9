"""A customer's own measurements against ours: every line is told apart, durations are compared, clocks are not mixed."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime

import pytest

from fairclock.errors import InputError, UsageError
from fairclock.model import Interval, from_us
from fairclock.model.zones import zone_of
from sla.bundle.comparison import Layout, Ours, Theirs, compare, comparison_csv, match, read_log
from tests.scripted.commands import said

START = 1_791_000_000_000_000
SECOND = 1_000_000
PERIOD = Interval(start=from_us(START - 3_600 * SECOND), end=from_us(START + 3_600 * SECOND))


def ours(at: float = 0, **changes):
    given = {
        "id": "", "trace": "", "received_us": START + int(at * SECOND), "end_to_end_us": SECOND, "connected_us": SECOND,
        "excluding_queue_us": SECOND // 2, "first_token_us": None, "status": "200", "outcome": "ok",
    }  # fmt: skip
    return Ours(**(given | changes))


def theirs(line: int, at: float | None = 0, **changes):
    start = None if at is None else START + int(at * SECOND)
    return Theirs(**({"line": line, "start_us": start, "duration_us": SECOND} | changes))


def outcome(matched):
    return {
        "pairs": {(each.theirs.line, each.by) for each in matched.pairs},
        "only_theirs": [each.line for each in matched.only_theirs],
        "only_ours": len(matched.only_ours),
        "ambiguous": (len(matched.ambiguous_theirs), len(matched.ambiguous_ours)),
    }


TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param(
            [theirs(2, 900, trace=TRACE, id="x")], [ours(trace=TRACE, id="y")],
            {"pairs": {(2, "trace")}, "only_theirs": [], "only_ours": 0, "ambiguous": (0, 0)},
            id="a trace decides, whatever clocks and ids say",
        ),
        pytest.param(
            [theirs(2, None, id="order-7")], [ours(id="order-7"), ours(5, id="order-8")],
            {"pairs": {(2, "id")}, "only_theirs": [], "only_ours": 1, "ambiguous": (0, 0)},
            id="an id needs no start",
        ),
        pytest.param(
            [theirs(2, 0, id="a"), theirs(3, 60, id="a")], [ours(0.1, id="a"), ours(60.1, id="a")],
            {"pairs": {(2, "time"), (3, "time")}, "only_theirs": [], "only_ours": 0, "ambiguous": (0, 0)},
            id="a repeated id leaves it to the time, among its own",
        ),
        pytest.param(
            [theirs(2, 0, id="a"), theirs(3, 0.2, id="a")], [ours(0.1, id="a")],
            {"pairs": set(), "only_theirs": [], "only_ours": 0, "ambiguous": (2, 1)},
            id="two that fit one are ambiguous",
        ),
        pytest.param(
            [theirs(2, 0, status="500")], [ours(0.1)],
            {"pairs": set(), "only_theirs": [2], "only_ours": 1, "ambiguous": (0, 0)},
            id="another status is another request, where only time matches",
        ),
        pytest.param(
            [theirs(2, 0, id="known"), theirs(3, 0.2)], [ours(0.1, id="known"), ours(0.3)],
            {"pairs": {(2, "id"), (3, "time")}, "only_theirs": [], "only_ours": 0, "ambiguous": (0, 0)},
            id="what an id has taken is no candidate any more",
        ),
        pytest.param(
            [theirs(2, 100, id="a"), theirs(3, 200, id="b"), theirs(4, 300.1)], [ours(0, id="a"), ours(100, id="b"), ours(200)],
            {"pairs": {(2, "id"), (3, "id"), (4, "time")}, "only_theirs": [], "only_ours": 0, "ambiguous": (0, 0)},
            id="a clock that is 100 s ahead is learned from ids",
        ),
    ],
)  # fmt: skip
def test_who_is_who(left, right, expected):
    assert outcome(match(left, right, tolerance_us=SECOND)) == expected


def test_a_given_offset_replaces_what_is_learned():
    matched = match([theirs(2, 100)], [ours(0.2)], tolerance_us=SECOND, offset_us=100 * SECOND)
    assert outcome(matched)["pairs"] == {(2, "time")}


def test_durations_are_compared_and_no_clock_is_in_a_difference():
    pairs = [
        theirs(line, 100 + line, id=str(line), duration_us=SECOND + line * 1_000) for line in range(2, 12)
    ]
    matched = match(pairs, [ours(line, id=str(line)) for line in range(2, 12)], tolerance_us=SECOND)
    found = compare(matched, [], lines=10, period=PERIOD).tree()
    assert found["clock_offset"] == 100.0
    assert found["clocks"]["end_to_end"]["theirs_less_ours"] == {
        "n": 10, "min": 0.002, "p50": 0.006, "p95": 0.011, "p99": 0.011, "max": 0.011,
    }  # fmt: skip
    assert found["clocks"]["excluding_queue"]["theirs_less_ours"]["p50"] == 0.506
    assert found["theirs"]["max"] == 1.011


def test_only_answers_on_both_sides_are_compared():
    left = [theirs(2, id="a", status="504"), theirs(3, id="b"), theirs(4, id="c", first_token_us=300_000)]
    right = [
        ours(id="a", status="200"),
        ours(id="b", outcome="timeout", status="504"),
        ours(id="c", first_token_us=250_000),
    ]
    found = compare(match(left, right, tolerance_us=SECOND), [], lines=3, period=PERIOD).tree()
    assert (found["matched"]["requests"], found["other_status"]) == (3, 1)
    assert found["theirs"]["n"] == 1
    assert found["clocks"]["time_to_first_token"]["theirs_less_ours"]["p50"] == 0.05


def test_nothing_is_lost():
    left = [theirs(2, id="a"), theirs(3, 50), theirs(4, 99_999), theirs(5, 10), theirs(6, 10.1)]
    right = [ours(id="a"), ours(10.05), ours(20, outcome="timeout")]
    content = b"duration_s,start\nx,1791000000\n"
    _, bad = read_log(content, Layout(), where="log.csv")
    found = compare(match(left, right, tolerance_us=SECOND), bad, lines=6, period=PERIOD)
    tree = found.tree()
    counted = (
        tree["matched"]["requests"]
        + tree["only_theirs"]
        + tree["ambiguous"]["theirs"]
        + tree["outside_the_month"]
    )
    assert counted + len(tree["bad_lines"]) == tree["their_lines"]
    assert tree["only_ours"] == {"requests": 1, "by_outcome": {"timeout": 1}}
    rows = list(csv.DictReader(comparison_csv(found).decode("utf-8-sig").splitlines()))
    assert sorted(int(each["line"]) for each in rows if each["line"]) == [2, 2, 3, 4, 5, 6]
    assert {each["what"] for each in rows} == {
        "matched",
        "only theirs",
        "ambiguous",
        "outside the month",
        "only ours",
        "bad line",
    }


@pytest.mark.parametrize(
    ("content", "layout", "expected"),
    [
        pytest.param(
            b"request_id,start,duration_ms,status\nr1,2026-10-03T04:00:00Z,12.5,200\n", Layout(),
            [Theirs(line=2, id="r1", start_us=1_791_000_000_000_000, duration_us=12_500, status="200")],
            id="CSV with names that are known",
        ),
        pytest.param(
            b'{"trace":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","elapsed":0.25,"when":"2026-10-03 12:00:00"}\n',
            Layout(columns={"start": "when"}, unit="s", zone=zone_of("Asia/Shanghai")),
            [Theirs(line=1, trace=TRACE, start_us=1_791_000_000_000_000, duration_us=250_000)],
            id="JSON lines, a traceparent, a column by name, a unit and a zone that are given",
        ),
        pytest.param(
            b"id;time;latency_us\r\na;1791000000.5;7\r\nb;1791000000500;8\r\n\r\nc;1791000000500000;9\r\n", Layout(),
            [Theirs(line=line, id=name, start_us=1_791_000_000_500_000, duration_us=length)
             for line, name, length in ((2, "a", 7), (3, "b", 8), (5, "c", 9))],
            id="semicolons, and instants since 1970 in seconds, milliseconds and microseconds",
        ),
    ],
)  # fmt: skip
def test_logs_are_read_as_they_are(content, layout, expected):
    found, bad = read_log(content, layout, where="log")
    assert bad == []
    assert found == expected


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        pytest.param(b"a,2026-10-03T02:00:00,1,200", "without a zone", id="no zone"),
        pytest.param(b"a,yesterday,1,200", "no instant", id="no instant"),
        pytest.param(b"a,2026-10-03T02:00:00Z,soon,200", "not a duration", id="no duration"),
        pytest.param(b"a,2026-10-03T02:00:00Z,-1,200", "which is none", id="less than nothing"),
        pytest.param(b"a,2026-10-03T02:00:00Z,,200", "has no duration", id="nothing"),
        pytest.param(b"a,2026-10-03T02:00:00Z,NaN,200", "not a duration", id="no number"),
        pytest.param(b",,1,200", "neither an id nor a start", id="nobody's"),
        pytest.param(b"a,2026-10-03T02:00:00Z", "has 2 cells", id="cut off"),
    ],
)
def test_a_bad_line_is_named_and_costs_its_neighbours_nothing(line, problem):
    content = b"id,start,duration_ms,status\n" + line + b"\nb,2026-10-03T02:00:00Z,1,200\n"
    found, bad = read_log(content, Layout(), where="log.csv")
    assert [each.id for each in found] == ["b"]
    assert [each.line for each in bad] == [2]
    assert problem in bad[0].problem


@pytest.mark.parametrize(
    ("content", "error", "told"),
    [
        pytest.param(b"id,duration\na,1\n", UsageError, "--unit", id="a unit that nobody said"),
        pytest.param(b"id,start\na,1\n", UsageError, "durations", id="no durations"),
        pytest.param(b"duration_ms\n1\n", UsageError, "neither ids nor starts", id="nothing to match by"),
        pytest.param(b"", InputError, "no line", id="nothing at all"),
        pytest.param(b"\xff\xfe", InputError, "UTF-8", id="another encoding"),
    ],
)
def test_what_cannot_be_guessed_is_asked(content, error, told):
    with pytest.raises(error) as raised:
        read_log(content, Layout(), where="log.csv")
    assert told in str(raised.value)


def test_the_command_tells_both_sides_apart(bundled, store, tmp_path):
    log = tmp_path / "mine.csv"
    # the customer's clock is 2 s ahead; it has half of the minutes of one hour, and one request that nobody knows
    first = datetime(2026, 10, 9, 6, tzinfo=UTC)
    lines = [f"{(first.timestamp() + minute * 60 + 2):.3f},1.45,200" for minute in range(0, 30, 2)] + [
        "1791500000,1,200",
        "nonsense,1,200",
    ]
    log.write_text("\n".join(["start,duration_s,status", *lines]), encoding="utf-8")
    table = tmp_path / "rows.csv"
    heard = said(
        store, "reports", "compare", bundled.path, "--month", "2026-10", "--customer-log", log, "--clock-offset", "2",
        "--as-of", bundled.report["as_of"], "--csv", table, "--json",
    )  # fmt: skip
    assert heard.code == 0, heard.err
    found = json.loads(heard.out)
    assert found["matched"] == {"requests": 15, "by_trace": 0, "by_id": 0, "by_time": 15}
    assert (found["only_theirs"], found["their_lines"], len(found["bad_lines"])) == (1, 17, 1)
    assert found["clocks"]["end_to_end"]["theirs_less_ours"]["p99"] == 0.05
    assert found["only_ours"]["requests"] == bundled.report["traffic"]["admitted"] - 15
    assert table.read_bytes().count(b"\r\n") == 1 + 17 + found["only_ours"]["requests"]
    heard = said(store, "reports", "compare", bundled.path, "--month", "2026-10", "--customer-log", log)
    assert "line 18: has 'nonsense', which is no instant" in heard.out
