"""Incidents on paper, in both languages: every kind of evidence as a sentence with all of its numbers."""

from __future__ import annotations

import html
import re
from string import Formatter

import pytest

from sla.incidents.evidence import KINDS, evidence_of
from sla.incidents.found import evidence_trees
from sla.incidents.section import incident_rule
from sla.reports.evidence import missing
from sla.reports.html import language_of, report_html
from sla.reports.incidents import incident_rows
from tests.incidents.observing import everything
from tests.reports import factories

CODES = ("en", "zh")


def an_incident(**changes):
    said = {
        "id": "inc-668883782447c352",
        "objective": "p99-peak",
        "from": "2026-10-14T01:00:00Z",
        "to": "2026-10-14T01:12:00Z",
        "ongoing": False,
        "requests": 1330,
        "bad": 300,
        "bad_minutes": 11,
        "worst": {
            "value": 3.25, "clock": "end_to_end", "unanswered": 2, "minute": {"bad": 60, "requests": 66},
        },
        "tenants_hit": ["acme", "acme-batch"],
        "evidence": evidence_trees(evidence_of(everything()[0])),
    }  # fmt: skip
    return said | changes


def report(*incidents):
    return factories.report(incidents=list(incidents), incident_rule=incident_rule())


def text_of(content, code):
    page = re.sub(r"<style>.*?</style>", "", report_html(content, code), flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


ALL = [tree for seen in everything() for tree in evidence_trees(evidence_of(seen))]


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("tree", ALL, ids=[f"{place} {each['kind']}" for place, each in enumerate(ALL)])
def test_every_kind_is_a_sentence_with_its_numbers(tree, code):
    language = language_of(code)
    template = language.words[f"incidents.evidence.{tree['kind']}"]
    fields = {name for _, name, _, _ in Formatter().parse(template) if name}
    left_out = set(tree["numbers"]) - fields - {"bad"}
    assert tree["kind"] == "outcomes" or not left_out
    (row,) = incident_rows(report(an_incident(evidence=[tree])), language)
    (sentence,) = row.evidence
    assert "{" not in sentence
    assert "None" not in sentence


def test_every_kind_has_been_seen():
    assert {each["kind"] for each in ALL} == set(KINDS)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "en",
            [
                "2026-10-14 09:00 to 09:12 (UTC+08:00)",
                "0:12:00 h:m:s, 11 bad minutes",
                "300 of 1,330 requests bad",
                "worst minute: 60 of 66",
                "longest: end to end 3.250 s",
                "without a value: 2",
                "tenants: acme, acme-batch",
                "37 of 40 bad requests were not answered in full: server error 7, timeout 30.",
                "The busiest minute had 400 requests of all customers; 200.0 came a minute (before: 10.0), 25% of them",
                "(before at most –)",
                "(XID; XID: 79); GPU-a first, at -60.000 s from the incident’s beginning.",
                "An incident has 5 bad requests or more.",
                "it names no cause and decides nothing",
            ],
        ),
        (
            "zh",
            [
                "2026-10-14 09:00 至 09:12 (UTC+08:00)",
                "历时 0:12:00（时:分:秒），其中超限 11 分钟",
                "1,330 个请求中失败 300 个",
                "最长：端到端 3.250 秒",
                "40 个失败请求中有 37 个未获完整应答：服务端错误 7、超时 30。",
                "一个事件至少有 5 个失败请求",
                "不指认原因，也不影响结论",
            ],
        ),
    ],
)
def test_an_incident_is_printed_whole(code, expected):
    text = text_of(report(an_incident()), code)
    assert [each for each in expected if each not in text] == []


def test_one_that_goes_on_and_one_without_evidence_say_so():
    text = text_of(report(an_incident(ongoing=True), an_incident(evidence=[])), "en")
    assert text.count("goes on") == 1
    assert "Nothing stood out in what was read." in text


def test_one_that_was_not_looked_into_is_listed_and_counted():
    bare = an_incident(
        evidence=None, tenants_hit=None, worst={"value": None, "clock": "end_to_end", "unanswered": None}
    )
    text = text_of(report(an_incident(), bare), "en")
    assert "Of 2 incidents the 1 with the most bad requests were looked into." in text
    assert "The others, by objective" in text


def test_a_month_without_incidents_says_so_and_one_not_looked_at_says_that():
    assert "No incident in this period." in text_of(report(), "en")
    assert "本统计期无事件。" in text_of(report(), "zh")
    english = language_of("en")
    assert "incidents" not in missing(report(), english)
    assert "incidents" in missing(factories.report(), english)
    assert "No incident in this period." not in text_of(factories.report(), "en")


def test_names_of_others_are_text():
    hostile = an_incident(
        objective="<script>alert(1)</script>",
        tenants_hit=["a\u202eb"],
        evidence=[{"kind": "later <b>", "numbers": {"x_ratio": 0.5, "name": "<i>"}, "sources": []}],
    )
    page = report_html(report(hostile), "en")
    assert "<script>alert" not in page
    assert "[U+202E]" in page
    assert "later &lt;b&gt;: x_ratio 50%, name &lt;i&gt;" in page
