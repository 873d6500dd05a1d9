"""What fixed answers were worth is in the report by inference mode, and a bundle's reader counts the same."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairclock.model.probes import Probe, ProbeOutcome
from sla.bundle.verify import answer_rows
from sla.measurement.answers import answers_by_mode
from sla.reports.html import report_html
from tests.reports import factories
from tests.reports.reader import Page

AT = datetime(2026, 10, 7, tzinfo=UTC)


def judged(mode="fp16", repetition=0.0, copied=None, invalid=False):
    return Probe(
        id="p", target="t", outcome=ProbeOutcome.OK, intended_at=AT, sent_at=AT, inference_mode=mode,
        repetition_ratio=repetition, numbers_copied_ratio=copied, invalid_output=invalid,
    )  # fmt: skip


def a_report(probes):
    nothing = {"sent": 0, "answered": 0, "failed": 0, "reconciled": 0}
    found = {"probes": nothing, "lateness": None, "sources": [], "differences": [], "clocks": []}
    return factories.report(measurement=found | {"answers": answers_by_mode(probes)})


@pytest.mark.parametrize(
    ("code", "heading", "unsaid"),
    [("en", "Inference mode", "not said"), ("zh", "推理模式", "未说明")],
    ids=["in English", "in Chinese"],
)
def test_a_mode_that_answers_worse_is_seen_beside_the_others(code, heading, unsaid):
    probes = [
        judged(copied=1.0),
        judged(mode="int4", repetition=0.5, copied=0.25, invalid=True),
        judged(mode=""),
    ]
    rows = Page(report_html(a_report(probes), code)).table(heading)[1:]
    assert rows == [
        [unsaid, "1", "0.0%", "—", "0.0%"],
        ["fp16", "1", "0.0%", "100.0%", "0.0%"],
        ["int4", "1", "50.0%", "25.0%", "100.0%"],
    ]


def test_probes_without_a_fixed_question_make_no_table():
    plain = judged(invalid=None)
    assert answers_by_mode([plain]) == []
    assert "Inference mode" not in Page(report_html(a_report([plain]), "en")).text


RATIOS = st.one_of(st.none(), st.integers(0, 10**6).map(lambda each: each / 10**6))


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from(["", "fp16", "int4"]), RATIOS, RATIOS, st.sampled_from([None, True, False]))
    )
)
def test_the_bundles_reader_counts_the_same(given_answers):
    probes = [judged(*each) for each in given_answers]
    trees = [
        {
            "inference_mode": each.inference_mode,
            "repetition_ratio": each.repetition_ratio,
            "numbers_copied_ratio": each.numbers_copied_ratio,
            "invalid_output": each.invalid_output,
        }
        for each in probes
    ]
    assert answer_rows(trees) == answers_by_mode(probes)
