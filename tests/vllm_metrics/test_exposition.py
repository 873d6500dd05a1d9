"""Every legal line gives its sample; every illegal one costs itself alone."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families as text_families

from collectors.vllm_metrics.exposition import parse
from tests.vllm_metrics.writing import SAMPLES, sample_line, text_of

GOOD = b'before{a="1"} 1\n'
AFTER = b'after{a="2"} 2\n'


def only(line, *, content_type=None):
    """The one sample of a line, with good ones around it, or the reason why it is none."""
    found = parse(GOOD + line + b"\n" + AFTER, content_type=content_type)
    names = [sample.name for sample in found.samples]
    assert names[0] == "before"
    assert names[-1] == "after"
    assert len(found.samples) + len(found.bad_lines) == 3
    return found.bad_lines[0].reason if found.bad_lines else found.samples[1]


class TestLegalLines:
    @pytest.mark.parametrize(
        ("line", "labels", "value"),
        [
            pytest.param(b"m 17", (), 17, id="no labels"),
            pytest.param(b"m{} 17", (), 17, id="empty braces"),
            pytest.param(
                b'm{a="1"} 17.0', (("a", "1"),), 17, id="a whole number with a fraction of zero is an int"
            ),
            pytest.param(
                b'm{b="2",a="1"} 0.5', (("a", "1"), ("b", "2")), 0.5, id="labels come ordered by name"
            ),
            pytest.param(b'm{a="1",} 1', (("a", "1"),), 1, id="a trailing comma"),
            pytest.param(
                b'm { a = "1" , b = "2" , } 1', (("a", "1"), ("b", "2")), 1, id="blanks between all parts"
            ),
            pytest.param(b'\t m{a="1"}\t1 ', (("a", "1"),), 1, id="tabs and blanks around"),
            pytest.param(rb'm{a="q\"b\\s\nn"} 1', (("a", 'q"b\\s\nn'),), 1, id="the three escapes"),
            pytest.param(
                rb'm{a="\x\t"} 1', (("a", r"\x\t"),), 1, id="a backslash before anything else is itself"
            ),
            pytest.param(
                b'm{a="},{=,# \\"} 9"} 1', (("a", '},{=,# "} 9'),), 1, id="braces, commas and quotes inside"
            ),
            pytest.param(
                'm{a="中文 \u2028"} 1'.encode(), (("a", "中文 \u2028"),), 1, id="letters of any script"
            ),
            pytest.param(b'm{a=""} 1', (("a", ""),), 1, id="an empty value"),
            pytest.param(b'{"m",a="1"} 1', (("a", "1"),), 1, id="the name in quotes within the braces"),
            pytest.param(b'{"m"} 1', (), 1, id="the name in quotes alone"),
            pytest.param(b'{"m","x.y \\"z"="1"} 1', (('x.y "z', "1"),), 1, id="a label's name in quotes"),
            pytest.param(b"m 9007199254740993", (), 9007199254740993, id="digits beyond 2^53 are exact"),
            pytest.param(
                b"m 123456789012345678901234567890", (), 123456789012345678901234567890, id="and beyond 2^64"
            ),
            pytest.param(b"m 1.5e3", (), 1500, id="a whole number with an exponent"),
            pytest.param(b"m 1.5e+003", (), 1500, id="an exponent of three digits"),
            pytest.param(b"m 1e-00000000000000000002", (), 0.01, id="an exponent of twenty digits"),
            pytest.param(b"m 1.7959803464775598e+09", (), 1795980346.4775598, id="an instant in seconds"),
            pytest.param(b"m -.5", (), -0.5, id="no digit before the point"),
            pytest.param(b"m 5.", (), 5, id="no digit after the point"),
            pytest.param(b"m +Inf", (), math.inf, id="infinity"),
            pytest.param(b"m -infinity", (), -math.inf, id="infinity in full"),
            pytest.param(b"m NaN", (), None, id="not a number is no value"),
            pytest.param(b"m -0.0", (), 0, id="a negative zero is zero"),
            pytest.param(b'm{a="1"} 2 # {trace_id="ab#c"} 0.5 1.2', (("a", "1"),), 2, id="an exemplar"),
        ],
    )
    def test_gives(self, line, labels, value):
        sample = only(line)
        assert (sample.name, sample.labels, sample.value) == ("m", labels, value)
        assert type(sample.value) is type(value)
        assert sample.timestamp_us is None

    @pytest.mark.parametrize(
        ("line", "content_type", "timestamp_us"),
        [
            pytest.param(b"m 1 1700000000123", None, 1700000000123000, id="milliseconds in the text format"),
            pytest.param(b"m 1 -5", "text/plain; version=0.0.4", -5000, id="before 1970"),
            pytest.param(
                b"m 1 1700000000.123456", "application/openmetrics-text; version=1.0.0", 1700000000123456,
                id="seconds in OpenMetrics, to the microsecond",
            ),
            pytest.param(b"m 1 17", "application/openmetrics-text", 17000000, id="whole seconds in OpenMetrics"),
            pytest.param(b"m 1 1.5e3", "application/openmetrics-text", 1500000000, id="seconds with an exponent"),
        ],
    )  # fmt: skip
    def test_gives_the_time(self, line, content_type, timestamp_us):
        assert only(line, content_type=content_type).timestamp_us == timestamp_us


class TestIllegalLines:
    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            pytest.param(b"m", "value: absent", id="no value"),
            pytest.param(b'm{a="1"}', "value: absent", id="no value after labels"),
            pytest.param(b'm{a="1"}2', "line: nothing parts the series from its value", id="no blank before the value"),
            pytest.param(b"m 1_000", "value: not a number", id="underscores"),
            pytest.param(b"m 0x1F", "value: not a number", id="hexadecimal digits"),
            pytest.param("m ١٢".encode(), "value: not a number", id="digits of another script"),
            pytest.param(b"m 1e400", "value: larger than a number can be", id="an exponent too large is not infinity"),
            pytest.param(b"m " + b"9" * 5000, "value: larger than a number can be", id="five thousand digits"),
            pytest.param(b"m +nan", "value: not a number", id="a sign before NaN"),
            pytest.param(b"m 1 2 3", "line: more than a value and a timestamp", id="three numbers"),
            pytest.param(b"m 1 1.5", "timestamp: not a whole number of milliseconds", id="half a millisecond"),
            pytest.param(b"m 1 9999999999999999", "timestamp: beyond the year 9999", id="a time too far off"),
            pytest.param(b'm{a="1" b="2"} 1', "labels: no comma or brace where one is due", id="no comma"),
            pytest.param(b'm{,a="1"} 1', "labels: no name where one is due", id="a comma first"),
            pytest.param(b'm{a="1",,b="2"} 1', "labels: no name where one is due", id="two commas"),
            pytest.param(b"m{a=1} 1", "labels: a value without its quotes", id="no quotes"),
            pytest.param(b'm{a="1} 1', "labels: a value without its quotes", id="one quote"),
            pytest.param(b"m{a} 1", "labels: a name without a value", id="no value of a label"),
            pytest.param(b'm{1a="1"} 1', "labels: no name where one is due", id="a label that begins with a digit"),
            pytest.param(b'm{a="1",a="2"} 1', "labels: the same name twice, or one that may not be", id="a label twice"),
            pytest.param(b'm{__name__="x"} 1', "labels: the same name twice, or one that may not be", id="__name__"),
            pytest.param(b'm{"n",a="1"} 1', "labels: a name without a value", id="two names"),
            pytest.param(b'{a="1"} 1', "name: absent", id="no name"),
            pytest.param(b'm{a="1"', "labels: no comma or brace where one is due", id="the brace stays open"),
            pytest.param("métrique 1".encode(), "line: nothing parts the series from its value", id="a name not quoted"),
            pytest.param(b"1m 1", "name: not of a metric", id="a name that begins with a digit"),
            pytest.param(b'm{a="\xff"} 1', "line: not UTF-8", id="bytes that are not UTF-8"),
            pytest.param(b'm{a="\0"} 1', "line: holds a NUL", id="a NUL within a label"),
            pytest.param(b"\0\0\0m 1", "line: holds a NUL", id="NULs before a line"),
            pytest.param(b"# TYPE m nonsense", "TYPE: not one of the known types", id="a type that is none"),
            pytest.param(b"# TYPE 1 gauge", "TYPE: not of a metric's name", id="a type of no name"),
            pytest.param(b"<html><body>502</body></html>", "name: not of a metric", id="a page of a proxy"),
        ],
    )  # fmt: skip
    def test_is_a_dead_letter(self, line, reason):
        assert only(line) == reason

    def test_a_raw_newline_in_a_label_costs_its_two_halves(self):
        found = parse(GOOD + b'm{a="x\ny"} 1\n' + AFTER)
        assert [sample.name for sample in found.samples] == ["before", "after"]
        assert [bad.number for bad in found.bad_lines] == [2, 3]

    @given(samples=SAMPLES, junk=st.binary(max_size=40), place=st.integers(0, 6))
    @example(samples={("m", ()): 1.0}, junk=b'\xff{"\\', place=0)
    def test_no_line_costs_another(self, samples, junk, place):
        lines = text_of(samples).split(b"\n")[:-1]
        strange = b"zz_" + junk.replace(b"\n", b"")
        alone = parse(strange + b"\n", content_type="text/plain; version=0.0.4")
        mixed = [*lines[:place], strange, *lines[place:]]
        found = parse(b"".join(line + b"\n" for line in mixed), content_type="text/plain; version=0.0.4")
        expected = {(name, labels): value for (name, labels), value in samples.items()}
        got = {
            (each.name, each.labels): each.value for each in found.samples if not each.name.startswith("zz_")
        }
        assert got == {key: value for key, value in expected.items() if not key[0].startswith("zz_")}
        assert len(found.bad_lines) == len(alone.bad_lines)


class TestTextAsAWhole:
    @given(samples=SAMPLES)
    def test_what_is_written_comes_back(self, samples):
        found = parse(text_of(samples))
        assert [((each.name, each.labels), each.value) for each in found.samples] == list(samples.items())
        assert not found.bad_lines
        assert found.is_complete

    @given(samples=SAMPLES)
    def test_agrees_with_the_reference_on_legal_text(self, samples):
        text = text_of(samples)
        theirs = [
            (each.name, tuple(sorted(each.labels.items())), each.value)
            for family in text_families(text.decode().replace("\r", ""))
            for each in family.samples
        ]
        ours = [
            (each.name, each.labels, math.nan if each.value is None else each.value)
            for each in parse(text).samples
        ]
        assert repr([(name, labels, float(value)) for name, labels, value in ours]) == repr(
            [(name, labels, float(value) + 0.0) for name, labels, value in theirs]
        )

    def test_agrees_with_the_reference_on_openmetrics(self):
        text = (
            "# TYPE a counter\n# HELP a of \\n things\n"
            'a_total{x="1"} 17.0 1700000000.5\na_created{x="1"} 1.6e+09 1700000000.5\n'
            '# TYPE h histogram\nh_bucket{le="0.5"} 1.0 # {trace_id="t"} 0.4 1700000000\nh_bucket{le="+Inf"} 3.0\n'
            "h_count 3.0\nh_sum 4.5\n# EOF\n"
        )
        theirs = [
            (each.name, tuple(sorted(each.labels.items())), each.value)
            for family in openmetrics_families(text)
            for each in family.samples
        ]
        found = parse(text.encode())
        assert [(each.name, each.labels, each.value) for each in found.samples] == theirs
        assert (found.is_openmetrics, found.is_complete, found.types) == (
            True,
            True,
            {"a": "counter", "h": "histogram"},
        )
        assert found.samples[0].timestamp_us == 1_700_000_000_500_000

    @given(body=st.binary(max_size=200) | st.text('ab{}="\\,#\n 1eE+.NTYPO', max_size=80).map(str.encode))
    def test_takes_whatever_comes(self, body):
        found = parse(body)
        lines = body.replace(b"\r\n", b"\n").split(b"\n")
        assert len(found.samples) + len(found.bad_lines) + found.duplicates <= len(lines)

    @given(body=st.binary(max_size=120))
    def test_reads_the_same_lines_with_either_line_end(self, body):
        body = body.replace(b"\r", b"")
        assert parse(body).samples == parse(body.replace(b"\n", b"\r\n")).samples

    def test_the_first_of_two_samples_of_a_series_stays(self):
        found = parse(b'm{a="1",b="2"} 1\nm{b="2",a="1"} 2\nm{b="2", a="1"} 3\nm 4\n')
        assert [each.value for each in found.samples] == [1, 4]
        assert found.duplicates == 2

    @pytest.mark.parametrize(
        ("body", "samples", "bad", "is_complete"),
        [
            pytest.param(b"m 1\nn 23", 1, 1, False, id="a last line without an end may have been longer"),
            pytest.param(b"m 1\n# EOF", 1, 0, True, id="the end needs no newline"),
            pytest.param(b"m 1\n# HELP n", 1, 0, True, id="nor does a comment"),
            pytest.param(
                b"m 1\n# EOF\nn 2\n", 2, 0, True, id="the end of the other format is a comment in this one"
            ),
            pytest.param(b"", 0, 0, True, id="nothing"),
            pytest.param(b"\n\n \n", 0, 0, True, id="blank lines"),
            pytest.param(b"# HELP m x\n# TYPE m gauge\n", 0, 0, True, id="help and type without samples"),
            pytest.param(b"\xef\xbb\xbfm 1\n", 1, 0, True, id="a byte order mark"),
        ],
    )
    def test_ends_as_it_should(self, body, samples, bad, is_complete):
        found = parse(body)
        assert (len(found.samples), len(found.bad_lines), found.is_complete) == (samples, bad, is_complete)

    def test_openmetrics_without_its_end_is_cut_off(self):
        found = parse(b"m 1\n", content_type="application/openmetrics-text; version=1.0.0")
        assert [each.value for each in found.samples] == [1]
        assert not found.is_complete

    def test_nothing_comes_after_the_end(self):
        found = parse(b"m 1\n# EOF\nn 2\n# TYPE n gauge\n", content_type="application/openmetrics-text")
        assert [each.name for each in found.samples] == ["m"]
        assert [bad.reason for bad in found.bad_lines] == ["line: after the end"] * 2

    def test_the_first_type_of_a_family_stays(self):
        assert parse(b'# TYPE m counter\n#TYPE m gauge\n# TYPE "o.p" UNTYPED\n').types == {
            "m": "counter",
            "o.p": "unknown",
        }

    def test_an_excerpt_of_a_bad_line_is_short(self):
        bad = parse(b"{" * 100_000 + b"\n").bad_lines[0]
        assert len(bad.text) == 1_000

    def test_lines_end_at_newlines_only(self):
        line = sample_line(("m", (("a", "x\x0b\x0c\x1c\x85\u2028y"),)), 1.0)
        assert parse((line + "\n").encode()).samples[0].labels == (("a", "x\x0b\x0c\x1c\x85\u2028y"),)
