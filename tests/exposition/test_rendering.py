"""How figures become text: what prometheus_client would write, and nothing is written twice."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

from exporters.prometheus import Exemplar, Figure, Format, HistogramFigure, Renderer, chosen, takes_gzip
from exporters.prometheus.aliases import ALIAS_OF, with_aliases
from exporters.prometheus.bounds import OTHER, Admitted, AdmittedPairs, label_text
from exporters.prometheus.collector import FigureCollector
from exporters.prometheus.compression import deflated, gzip_of
from exporters.prometheus.configuration import MetricsSection
from exporters.prometheus.snapshot import Snapshots
from fairclock.config import parse_configuration
from fairclock.errors import ConfigurationError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
LABELS = st.dictionaries(st.sampled_from(["tenant", "model", "clock", "a", "z"]), TEXT, max_size=4)
NUMBERS = st.one_of(st.integers(0, 10**12), st.floats(allow_nan=False, allow_infinity=False))


@st.composite
def histograms(draw, name, about):
    edges = tuple(
        sorted(draw(st.sets(st.floats(0.001, 1e7, allow_nan=False).map(lambda x: round(x, 6)), max_size=5)))
    )
    counts, total = [], 0
    for _ in range(len(edges) + 1):
        total += draw(st.integers(0, 2_000_000))
        counts.append(total)
    exemplar = draw(
        st.none()
        | st.builds(Exemplar, trace_id=st.just("ab" * 16), value=st.floats(0, 1e6), at_seconds=st.just(1.5e9))
    )
    return HistogramFigure(
        name=name, about=about, labels=draw(LABELS), edges=edges, counts=tuple(counts),
        total=draw(st.floats(0, 1e9)), exemplar=exemplar,
    )  # fmt: skip


@st.composite
def published(draw):
    """Figures of three families, each of one kind, every series once."""
    found = []
    about = draw(TEXT)
    for kind in ("gauge", "counter", "histogram"):
        name = f"fairclock_{kind}"
        if kind == "histogram":
            several = draw(st.lists(histograms(name, about), max_size=3))
        else:
            several = draw(
                st.lists(
                    st.builds(Figure, name=st.just(name), about=st.just(about), value=NUMBERS, labels=LABELS, kind=st.just(kind)),
                    max_size=3,
                )
            )  # fmt: skip
        found += {tuple(sorted(each.labels.items())): each for each in several}.values()
    return found


def by_the_library(figures, format_):
    registry = CollectorRegistry()
    registry.register(FigureCollector(figures))
    if format_ is Format.PLAIN:
        return generate_latest(registry)
    return generate_openmetrics(registry).removesuffix(b"# EOF\n")


@settings(max_examples=30)
@given(published(), published())
def test_the_text_is_the_librarys_whatever_was_written_before(first, second):
    for format_ in Format:
        renderer = Renderer(format_)
        assert renderer.render(first) == by_the_library(first, format_)
        assert renderer.render(second) == by_the_library(second, format_)


@pytest.mark.parametrize(
    ("accept", "format_", "content_type"),
    [
        ("", Format.PLAIN, "text/plain; version=0.0.4; charset=utf-8"),
        ("*/*", Format.PLAIN, "text/plain; version=0.0.4; charset=utf-8"),
        (
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            Format.OPENMETRICS, "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores",
        ),
        (
            "application/openmetrics-text;version=2.0.0;escaping=allow-utf-8,text/plain",
            Format.OPENMETRICS, "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=allow-utf-8",
        ),
    ],
    ids=["nothing", "anything", "Prometheus 2", "a version that is newer than ours"],
)  # fmt: skip
def test_a_scrape_is_answered_in_a_format_that_it_takes(accept, format_, content_type):
    assert chosen(accept) == (format_, content_type)


@pytest.mark.parametrize(
    ("said", "is_taken"), [("gzip", True), ("deflate, gzip;q=0.5", True), ("gzip;q=0", False), ("", False)]
)
def test_only_who_takes_it_gets_it_compressed(said, is_taken):
    assert takes_gzip(said) is is_taken


@settings(max_examples=30)
@given(st.binary(max_size=4000), st.binary(max_size=4000))
def test_an_answer_in_two_parts_is_one_gzip_member(first, second):
    content = gzip_of(deflated(first), second)
    member = gzip.zlib.decompressobj(31)
    assert (member.decompress(content), member.unused_data, member.eof) == (first + second, b"", True)


def test_a_snapshot_is_told_before_it_is_handed_out_for_the_first_time():
    told: list[datetime] = []
    at = datetime(2026, 10, 1, tzinfo=UTC)
    snapshots = Snapshots(told=told.append)
    assert snapshots.text(Format.PLAIN).body == b""
    assert told == []
    snapshots.publish([Figure(name="fairclock_x", about="y", value=1)], at)
    assert snapshots.scraped is None
    for _ in range(2):
        assert b"fairclock_x 1.0" in snapshots.text(Format.PLAIN).body
    assert (told, snapshots.scraped) == ([at], at)
    assert b"fairclock_x 1.0" in snapshots.text(Format.OPENMETRICS).body


def test_so_many_values_of_a_label_have_their_own_and_the_rest_shares_one():
    tenants = Admitted(2)
    assert [tenants.of(each) for each in ("a", "b", "c", "a", "d", "c")] == [
        "a",
        "b",
        OTHER,
        "a",
        OTHER,
        OTHER,
    ]
    assert tenants.refused == 2


def test_pairs_share_a_model_before_they_share_everything():
    pairs = AdmittedPairs(tenants=Admitted(3), models=Admitted(3), most=3)
    asked = [("a", "m"), ("a", "n"), ("b", "m"), ("b", "n"), ("a", "m"), ("c", "m")]
    assert [pairs.of(*each) for each in asked] == [
        ("a", "m"), ("a", "n"), ("b", "m"), (OTHER, OTHER), ("a", "m"), (OTHER, OTHER),
    ]  # fmt: skip


@settings(max_examples=30)
@given(st.lists(st.tuples(TEXT, TEXT), max_size=60), st.integers(1, 6), st.integers(1, 6), st.integers(1, 9))
def test_there_are_never_more_series_than_allowed(asked, tenants, models, most):
    pairs = AdmittedPairs(tenants=Admitted(tenants), models=Admitted(models), most=most)
    given_out = {pairs.of(*each) for each in asked}
    assert len(given_out - {(OTHER, OTHER)}) <= most
    assert len({tenant for tenant, _ in given_out} - {OTHER}) <= tenants


@pytest.mark.parametrize(
    "value", ["x" * 500, "租户" * 200, "a\ud800b"], ids=["long", "long and Chinese", "no Unicode"]
)
def test_a_label_has_a_bounded_length_and_can_be_written(value):
    text = label_text(value)
    assert len(text) <= 128
    assert text.encode()
    assert label_text(value + "y") != text


def test_an_alias_is_the_same_series_under_another_name():
    histogram = HistogramFigure(
        name="fairclock_queue_duration_seconds", about="", labels={"tenant": "a"}, edges=(1.0,), counts=(1, 2), total=3
    )  # fmt: skip
    gauge = Figure(name="fairclock_kv_cache_utilization_ratio", about="", value=0.5)
    found = {each.name: each for each in with_aliases([histogram, gauge], ALIAS_OF)}
    assert len(found) == 4
    assert found["deepseek_inference_queue_duration_seconds"].counts == (1, 2)
    assert found["vllm_kv_cache_utilization_ratio"].value == 0.5
    assert list(with_aliases([gauge], ())) == [gauge]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("edges: [1s, 500ms]", "are no edges"),
        ("edges: [0s, 1s]", "are no edges"),
        ("aliases: [other]", "is none of its choices"),
        ("max_tenants: 0", "greater than or equal to 1"),
    ],
)
def test_a_wrong_section_is_refused(text, problem):
    with pytest.raises(ConfigurationError, match=problem):
        parse_configuration(text.encode(), MetricsSection, where="fairclock.yaml")
