"""What a report's pages say of what changed since the revision before it, in both languages."""

from __future__ import annotations

import re

import pytest

from sla.reports.html import report_html
from tests.reports.factories import report

WHY = [
    {
        "reason": "late_rows",
        "gateway_rows": 1200,
        "engine_rows": 3,
        "stored_after": "2026-11-01T01:00:00Z",
        "stored_by": "2026-11-03T04:12:05.250000Z",
    },
    {
        "reason": "exclusion",
        "id": "ex-0a1b2c3d",
        "clause": "exclusions.maintenance",
        "state": "accepted",
        "at": "2026-11-02T08:00:00Z",
    },
]


def change(
    what: str, before: object, after: object, *why: int, objective: str | None = None
) -> dict[str, object]:
    return {
        "objective": objective,
        "part": None,
        "what": what,
        "before": before,
        "after": after,
        "why": [WHY[each] for each in why],
    }


CHANGES = [
    change("admitted", 300342, 301542, 0),
    change("coverage.gateway", None, 1.0, 0),
    change("value", 0.99951, 0.998933808691, 0, 1, objective="availability"),
    change("value", 2.0004, None, 0, 1, objective="p99-peak"),
    change("value", 0.33127, 0.331271, 0, objective="queue-cap"),
    change("verdict", "met", "violated", 0, 1, objective="availability"),
    change(
        "exclusion",
        None,
        {"id": "ex-0a1b2c3d", "clause": "exclusions.maintenance", "granted_seconds": 5400.0},
        1,
    ),
    change("objective-of-tomorrow", 1.5, "<b>", objective="<i>gone</i>"),
]
REVISED = {
    "revision": 2,
    "previous_revision": {"revision": 1, "as_of": "2026-11-01T01:00:00Z"},
    "changes": CHANGES,
}


def page(code: str = "en", **changes: object) -> str:
    return report_html(report() | changes, code)


def rows(html: str) -> list[list[str]]:
    table = html.split('<table class="changes">')[1].split("</table>", maxsplit=1)[0]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in table.split("<tr>")[2:]]
    return [[re.sub(r"</?bdi>", "", cell).replace("<br>", " ").strip() for cell in row] for row in cells]


def test_each_figure_is_printed_as_the_report_prints_it():
    assert rows(page(**REVISED)) == [
        ["requests", "300,342", "301,542", "1"],
        ["coverage of the gateway", "–", "100.000%", "1"],
        ["availability delivered", "99.95%", "99.89%", "1, 2"],
        ["p99-peak delivered", "2.0004", "unanswered", "1, 2"],
        ["queue-cap delivered", "0.331", "0.3313", "1"],
        ["availability verdict", "met", "at risk", "1, 2"],
        ["time left out by an exclusion", "–", "ex-0a1b2c3d 1:30:00", "2"],
        ["&lt;i&gt;gone&lt;/i&gt; objective-of-tomorrow", "1.5", "&lt;b&gt;", "–"],
    ]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "en",
            [
                "What changed since revision 1",
                "Since revision 1 (as of 1 November 2026 09:00:00), 8 figures changed",
                "Rows stored after 1 November 2026 09:00:00: 1,200 of gateways, 3 of engines.",
                "Exclusion ex-0a1b2c3d (exclusions.maintenance): accepted, 2 November 2026 16:00:00.",
            ],
        ),
        (
            "zh",
            [
                "自第 1 次修订以来的变更内容",
                "8 项数值有变更",
                "网关 1,200 行，引擎 3 行",
                "除外 ex-0a1b2c3d（exclusions.maintenance）：已确认，2026年11月2日 16:00:00。",
            ],
        ),
    ],
)
def test_what_came_in_between_is_listed(code, said):
    html = page(code, **REVISED)
    for each in said:
        assert each in html


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"revision": 1, "previous_revision": None},
            "This is the first revision: nothing was evaluated before it.",
        ),
        ({**REVISED, "changes": []}, "no figure changed that is compared."),
        ({}, "Since the last revision: not evaluated."),
    ],
    ids=["the first one", "one that differs in nothing compared", "one that was not looked up"],
)
def test_the_first_page_says_where_nothing_changed(changes, said):
    html = page(**changes)
    assert said in html
    assert '<table class="changes">' not in html


def test_changes_are_not_among_what_is_not_evaluated():
    assert "<li>changes since the last revision</li>" in page()
    assert "<li>changes since the last revision</li>" not in page(revision=1, previous_revision=None)
