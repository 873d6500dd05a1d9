"""What engines counted, held against what is known of requests."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from billing.cost_book.reconciliation import Quantity, counted
from billing.cost_book.reconciling import reconcile
from fairclock.cli import main
from fairclock.model import to_us
from fairclock.model.counters import Point
from tests.cost_book.traffic import HOUR, engine, feed, gateway, good_machine, good_settings, hours
from tests.vllm_metrics.test_store import deliver, scrape

STARTED = HOUR - timedelta(minutes=5)


def counters(at_minutes, prompts=0, cached=0, completions=0, stopped=0, *, cut=0, target="a:8000"):
    """One scrape of an engine that started before the hour."""
    labels = 'engine="0",model_name="m"'
    text = (
        f"process_start_time_seconds {STARTED.timestamp()}\n"
        f"vllm:prompt_tokens_total{{{labels}}} {prompts}\nvllm:prompt_tokens_cached_total{{{labels}}} {cached}\n"
        f"vllm:generation_tokens_total{{{labels}}} {completions}\n"
        f'vllm:request_success_total{{{labels},finished_reason="stop"}} {stopped}\n'
        f'vllm:request_success_total{{{labels},finished_reason="length"}} {cut}\n'
    )
    return scrape(text, target=target, at_us=to_us(HOUR + timedelta(minutes=at_minutes)))


def reconciled(store, window=None, **changes):
    settings = good_settings(
        machines=(good_machine(target="a:8000", upstreams=("10.0.0.1:8000",)),), **changes
    )
    return {
        (each.engine, (each.hour - HOUR) // timedelta(hours=1), each.quantity): each
        for each in reconcile(store, window or hours(), store.watermark(), settings)
    }


def line(each):
    return (each.counted, each.requests, each.nobodys, each.left, each.unexplained)


def test_what_is_known_and_what_nobody_explains_are_lines(store):
    left = gateway(50, 10, 4, status="499", prompt_tokens="100", completion_tokens="7")
    feed(
        store,
        [gateway(10, 10, 1), gateway(30, 10, 2), left],
        # the third is no request's; of the fourth, whose client left, no row tells
        [engine(10, 10, 1, cached_tokens=20), engine(30, 10, 2), engine(40, 10, 3, completion_tokens=5)],
    )
    deliver(
        store,
        counters(-1),
        counters(0.01),
        counters(30, 410, 20, 130, 2, cut=2),
        counters(61, 410, 20, 130, 2, cut=2),
    )
    found = reconciled(store)
    assert {quantity: line(found[("engine-a", 0, quantity)]) for quantity in Quantity} == {
        Quantity.PROMPT_TOKENS: (410, 200, 100, 100, 10),
        Quantity.CACHED_TOKENS: (20, 20, 0, 0, 0),
        Quantity.COMPLETION_TOKENS: (130, 100, 5, 7, 18),
        Quantity.SEQUENCES: (4, 2, 1, 0, 1),
    }
    assert found[("engine-a", 0, Quantity.CACHED_TOKENS)].is_possible
    assert not found[("engine-a", 0, Quantity.COMPLETION_TOKENS)].is_possible


def test_without_a_reading_the_rest_is_not_known_rather_than_none(store):
    feed(store, [gateway(10, 10, 1)], [engine(10, 10, 1)])
    each = reconciled(store)[("engine-a", 0, Quantity.PROMPT_TOKENS)]
    assert line(each) == (None, 100, 0, 0, None)
    assert each.is_possible is None


def test_a_sequence_counts_where_the_engine_counts_it(store):
    feed(store, [gateway(3590, 30, 1)], [engine(3590, 30, 1, ttft=0.5, prefill=0.5, decode=29.5)])
    deliver(store, counters(-1), counters(59.95, prompts=100), counters(61, prompts=100, completions=50, stopped=1), counters(121, 100, 0, 50, 1))  # fmt: skip
    found = reconciled(store, hours(0, 2))
    assert [found[("engine-a", hour, Quantity.PROMPT_TOKENS)].unexplained for hour in (0, 1)] == [0, 0]
    assert [found[("engine-a", hour, Quantity.SEQUENCES)].unexplained for hour in (0, 1)] == [0, 0]
    assert [found[("engine-a", hour, Quantity.COMPLETION_TOKENS)].requests for hour in (0, 1)] == [0, 50]


def test_an_impossible_row_is_nobodys_and_still_counted(store):
    feed(store, [gateway(10, 10, 1)], [engine(10, 10, 1, prefill=-1.0)])
    each = reconciled(store)[("engine-a", 0, Quantity.COMPLETION_TOKENS)]
    assert (each.requests, each.nobodys) == (0, 50)


def test_an_engine_that_is_not_configured_is_reconciled_by_its_own_name(store):
    feed(store, [gateway(10, 10, 1)], [engine(10, 10, 1, instance="b:8000")])
    deliver(store, counters(-1, target="b:8000"), counters(59, prompts=100, target="b:8000"))
    each = reconciled(store)[("b:8000", 0, Quantity.PROMPT_TOKENS)]
    assert line(each) == (100, 100, 0, 0, 0)


@pytest.mark.parametrize("series", [[], [[]]], ids=["no series", "a series without a reading"])
def test_no_reading_is_no_count(series):
    edges = [0, 10]
    found = counted(series, edges)
    assert found is None or found[0].counted is None
    assert counted([[Point(at_us=1, value=1), Point(at_us=9, value=5)]] * 2, edges)[0].counted == 8


def test_what_responses_say_beyond_their_engine_rows_is_a_line_and_explains_nothing(store):
    feed(
        store,
        [
            gateway(10, 10, 1, prompt_tokens="104", completion_tokens="57"),
            gateway(30, 10, 2, prompt_tokens=None, cached_tokens=None, completion_tokens=None),
        ],
        [engine(10, 10, 1), engine(30, 10, 2)],
    )
    found = reconciled(store)
    said = {quantity: found["engine-a", 0, quantity] for quantity in Quantity}
    assert [each.copied for each in said.values()] == [4, 0, 7, 0]
    assert said[Quantity.PROMPT_TOKENS].known == 200


def test_the_command_shows_every_hour_and_the_rest_in_all(store, tmp_path, capsys):
    feed(store, [gateway(10, 10, 1)], [engine(10, 10, 1)])
    deliver(store, counters(-1), counters(0.01), counters(30, 130, 0, 60, 1), counters(61, 130, 0, 60, 1))
    config = tmp_path / "fairclock.yaml"
    prices = Path(__file__).parents[1] / "ledger" / "prices.yaml"
    said = {"engines": [{"engine": "engine-a", "machine": "H", "gpus": 2, "target": "a:8000"}]}
    config.write_text(json.dumps({"billing": {"prices": str(prices), "gpu_time": said}}))

    def show(*words):
        with pytest.raises(SystemExit) as end:
            main(
                [
                    "ledger",
                    "show",
                    "--reconcile",
                    "--month",
                    "2026-10",
                    "-c",
                    str(config),
                    "--dsn",
                    store.dsn,
                    *words,
                ]
            )
        assert not end.value.code
        return capsys.readouterr().out

    found = {
        each["quantity"]: each
        for each in json.loads(show("--json"))
        if each["hour"] == "2026-10-07T03:00:00Z"
    }
    assert (found["prompt_tokens"]["counted"], found["prompt_tokens"]["unexplained"]) == (130, 30)
    totals = [line.split() for line in show().splitlines() if line.split()[1] == "all"]
    assert ["engine-a", "all", "completion_tokens", "60", "50", "0", "0", "10", "-", "-", "0"] in totals
