"""What a demonstration says in the end."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from fairclock.demo.summary import print_summary


def objective(**changes):
    return {
        "name": "p99",
        "kind": "latency",
        "clock": "end_to_end",
        "percentile": 99,
        "during": None,
        "where": None,
        "threshold": 2.0,
        "value": 3.2441,
        "n": 1000,
        "violations": 18,
        "allowed": 10,
        "verdict": "violated",
        **changes,
    }


INFERENCE = objective(name="p99-inference", clock="inference", threshold=0.5, value=0.351, verdict="met")


def summary(*objectives, customer="云帆金融"):
    return {
        "requests": 300_000,
        "month": "2026-10",
        "time_zone": "Asia/Shanghai",
        "tenants": [
            {
                "customer": customer,
                "requests": 126_000,
                "p99_with_queueing": 3.244,
                "p99_without_queueing": 0.359,
                "p99_inference": 0.349,
                "objectives": list(objectives),
            }
        ],
        "ledger": {
            "state": "final",
            "entries_verified": 2947,
            "tenants": [
                {
                    "tenant": customer,
                    "requests": 125_873,
                    "prompt_tokens": 34_700_000,
                    "completion_tokens": 911_302,
                    "gpu_seconds": "18405.0",
                    "currency": "CNY",
                    "net": "181.62",
                    "gross": "192.52",
                }
            ],
        },
        "exclusions": 4,
        "issued": ["/somewhere/demo-out/issued/a-R000001.json"],
        "bundle": "/somewhere/demo-out/bundles/a-2026-10-bundle",
        "invoices": ["/somewhere/demo-out/invoices/a-2026-10-invoice.pdf"],
        "stages": [{"name": "simulate", "seconds": 3.5}],
        "seconds": 3.5,
        "out": "/somewhere/demo-out",
        "reports": ["/somewhere/demo-out/reports/a.pdf", "/somewhere/demo-out/reports/a.json"],
    }


def printed(values):
    file = io.StringIO()
    print_summary(values, Console(file=file, width=80))
    return file.getvalue()


def test_the_p99s_with_and_without_queueing_stand_beside_each_other_in_80_columns():
    text = printed(summary(objective(), INFERENCE))
    (line,) = [line for line in text.splitlines() if "126,000" in line]
    assert [word for word in line.split() if "." in word] == ["3.244", "0.359", "0.349"]
    assert "1 of 2" in line
    assert "…" not in text


def test_until_a_report_is_issued_an_objective_is_at_risk_and_not_violated():
    text = printed(summary(objective()))
    assert "at risk" in text
    assert "violated" not in text


def test_the_point_is_made_where_inference_is_met_and_end_to_end_is_not():
    text = " ".join(printed(summary(objective(), INFERENCE)).split())
    assert "p99-inference (≤ 0.500 s) is met with 0.351 s; p99 (≤ 2.000 s) is at risk with 3.244 s" in text


@pytest.mark.parametrize("objectives", [(objective(),), (objective(verdict="met"), INFERENCE)])
def test_and_not_otherwise(objectives):
    assert "starts earlier" not in printed(summary(*objectives))


@pytest.mark.parametrize(
    ("changes", "delivered"),
    [
        ({"value": 2.0001}, "2.0001 s"),
        ({"value": 2.0}, "2.000 s"),
        ({"value": 1.9999996, "verdict": "met"}, "1.9999996 s"),
        ({"value": None}, "no answer"),
        ({"value": None, "n": 0}, "–"),
        ({"kind": "availability", "clock": None, "threshold": 0.999, "value": 0.998951}, "99.895 %"),
        ({"kind": "availability", "clock": None, "threshold": 0.999, "value": 0.9989999}, "99.89999 %"),
        ({"kind": "availability", "clock": None, "threshold": 0.999, "value": 0.9999999}, "99.99999 %"),
        ({"kind": "availability", "clock": None, "threshold": 0.999, "value": 1.0}, "100.00 %"),
    ],
)
def test_a_figure_is_printed_on_its_side_of_the_promise(changes, delivered):
    assert f" {delivered} " in printed(summary(objective(**changes)))


def test_what_is_billed_stands_in_one_line_of_80_columns():
    text = printed(summary(objective()))
    assert "2,947 entries verified, the month is final" in text
    (line,) = [line for line in text.splitlines() if "125,873" in line]
    assert line.split() == ["云帆金融", "125,873", "35,611,302", "18405.0", "181.62", "192.52"]


def test_a_customers_name_is_text_and_no_markup():
    assert "[red]<img src=x>" in printed(summary(objective(), customer="[red]<img src=x>"))
