"""The report's page on the measurement, in both languages: what there is is shown, what there is not is said."""

from __future__ import annotations

import pytest

from fairclock.model.sightings import Source
from sla.measurement import measured
from sla.measurement.section import measurement_tree
from sla.reports.html import report_html
from tests.reconciliation.factories import FOUR_MINUTES_US, reconciled
from tests.reports import factories
from tests.reports.reader import Page


def page(report, code="en"):
    return Page(report_html(report, code))


def report(found=None, **told):
    found = [reconciled(number, **told) for number in range(4)] if found is None else found
    return factories.report(measurement=measurement_tree(measured((each.probe for each in found), found)))


def test_the_page_has_sources_differences_and_clocks():
    shown = page(report(without=(Source.PLUGIN,)))
    assert (
        "4 probes were sent, 4 answered, 0 failed; 4 were held against what other sources say." in shown.text
    )
    sources = {row[0]: row[1:] for row in shown.table("Seen by")[1:]}
    assert sources["gateway’s log"] == ["4", "4", "0"]
    assert sources["plugin in the engine"] == ["4", "0", "none: not connected"]
    queue = next(row for row in shown.table("Duration")[1:] if row[0].startswith("queueing"))
    assert queue[1:3] == ["engine’s span, probe service’s truth", "4"]
    assert queue[-1] == "0 (more than 1.000 ms)"
    clocks = {(row[0], row[1]): row[3] for row in shown.table("The clock of")[1:]}
    assert clocks["gateway’s log (gateway)", "client (client)"] == "-0.003 to 0.002"


def test_clocks_that_are_apart_and_clocks_that_moved_are_told():
    apart = page(report(ahead_us={Source.SPAN: FOUR_MINUTES_US})).table("The clock of")[1:]
    told = {(row[0], row[1]): row[3] for row in apart}
    assert told["engine’s span (span)", "gateway’s log (gateway)"] == "239.994 to 240.004"
    moved = [
        reconciled(number, ahead_us={Source.SPAN: FOUR_MINUTES_US * (number > 1)}) for number in range(4)
    ]
    rows = page(report(found=moved)).table("The clock of")[1:]
    told = {(row[0], row[1]): row[3] for row in rows}
    assert told["engine’s span (span)", "gateway’s log (gateway)"].startswith(
        "no constant: they moved by 239.99"
    )


@pytest.mark.parametrize(
    ("code", "words"),
    [("en", "No probe of this service was sent in the period"), ("zh", "统计期内未向该服务发送探测请求")],
    ids=["in English", "in Chinese"],
)
def test_a_month_without_probes_says_that_nothing_was_held_against_its_measurement(code, words):
    assert words in page(factories.report(measurement=None), code).text


def test_a_report_from_before_says_nothing_of_it():
    assert "How well this is measured" not in page(factories.report()).text
