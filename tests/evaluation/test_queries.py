"""The queries as text, held against files; no engine is needed to read what will be asked of it.

``FAIRCLOCK_WRITE_GOLDEN=1 pytest tests/evaluation/test_queries.py`` writes the files anew.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fairclock.model import Clock, Interval
from fairclock.store import Query
from sla.evaluation.cells import cell_aggregates, cells_query
from sla.evaluation.counting import promise_aggregates, ranked_by
from sla.evaluation.daily import daily_query
from sla.evaluation.dataset import dataset
from sla.evaluation.evidence import hours_query
from sla.evaluation.excluded import Excluded
from sla.evaluation.fragments import named, select, sql
from sla.evaluation.instants import inside
from sla.evaluation.parts import Part
from sla.evaluation.quota import refused_below_quota
from sla.evaluation.ranking import values_at_ranks
from sla.evaluation.subject import subject_of
from sla.evaluation.traffic import traffic_aggregates
from sla.evaluation.values import known_aggregates
from sla.grids import Grid
from tests.evaluation.factories import a_contract, availability, latency

GOLDEN = Path(__file__).parent / "golden"
OCTOBER = Interval(start=datetime(2026, 9, 30, 16, tzinfo=UTC), end=datetime(2026, 10, 31, 16, tzinfo=UTC))
FIRST_HOUR = Interval(start=OCTOBER.start, end=datetime(2026, 9, 30, 17, tzinfo=UTC))
ROWS = Query(sql="SELECT * FROM rows")
CONTRACT = a_contract(
    customer={"name": "Acme", "tenants": ["\"'; DROP TABLE requests; --"]},
    clock={"start": "connected"},
    scope={"models": ["m1", "m2"], "routes": ["/v1/chat/completions"], "regions": ["r1"]},
    outcomes=[{"status": 503, "error_code": "QpsExceeded", "is": "quota_rejected"}],
    quota={"requests_per_minute": 600, "tokens_per_minute": 2_000_000, "rejected_below": "bad"},
    calendar={"night": [{"days": "mon", "from": "22:00", "to": "24:00"}]},
    objectives=[
        latency("end_to_end", during="night", where={"prompt_tokens": {"at_least": 512, "below": 2048}}),
        latency("queue", where={"stream": True, "models": ["m1"], "completion_tokens": {"above": 16}}),
        latency("inference"),
        availability(during="not night"),
    ],
)
BY_INTERVAL = a_contract(
    evaluate_per=["model"],
    quality={
        "levels": [
            {"name": "full", "modes": ["fp16"]},
            {"name": "reduced", "modes": ["DROP", "int8"], "counts": "bad"},
        ]
    },
    objectives=[
        {
            "name": "uptime",
            "availability": {
                "formula": "downtime",
                "interval": "1m",
                "bad_above": "5%",
                "empty": "good",
                "target": "99.5%",
            },
        },
        {
            "name": "speed",
            "rate": {
                "clock": "output_tokens_per_second",
                "at_least": "80",
                "window": "1m",
                "statistic": "p50",
                "windows_met": "99%",
            },
        },
        {
            "name": "windows",
            "latency": {
                "clock": "inference",
                "percentile": "99",
                "at_most": "2s",
                "window": "1m",
                "combine": "worst",
            },
        },
    ],
)
SUBJECT = subject_of(CONTRACT)
PARTS = subject_of(
    BY_INTERVAL,
    excluded=Excluded(
        instants=(FIRST_HOUR,), requests=sql("engine = {excluded_engine:String}", excluded_engine="DROP")
    ),
).by([Part(model="DROP"), Part(model="m2")])


class _Asked:
    """Keeps the one query it is asked."""

    def rows(self, query: Query) -> list[tuple[object, ...]]:
        self.query = query
        return [tuple([0] * 9 for _ in range(query.sql.count(" AS sort_")))]


def _columns(aggregates: dict[str, Query]) -> Query:
    return select([named(expression, name) for name, expression in aggregates.items()], ROWS)


def _ranks() -> Query:
    asked = _Asked()
    ranked = {
        key: ranked_by(SUBJECT.promises[key], SUBJECT.promises[key].objective, ranks=(50, 99, 100), count=100)
        for key in "012"
    }
    with pytest.raises(ValueError, match="zip"):  # the answer is not looked at
        values_at_ranks(asked, ROWS, ranked)
    return asked.query


def _cells() -> Query:
    aggregates = {}
    for promise in PARTS.promises.values():
        aggregates |= cell_aggregates(promise, unknown_is_bad=True)
    minutes = Grid(start_us=0, end_us=120_000_000, step_us=60_000_000)
    return cells_query(minutes, aggregates, ROWS)


QUERIES = {
    "dataset": lambda: dataset(SUBJECT, ROWS, OCTOBER),
    "dataset_of_parts": lambda: dataset(PARTS, ROWS, OCTOBER),
    "cells": _cells,
    "traffic": lambda: _columns(traffic_aggregates([OCTOBER]) | known_aggregates()),
    "objectives": lambda: _columns(
        {
            name: expression
            for promise in SUBJECT.promises.values()
            for name, expression in promise_aggregates(promise).items()
        }
    ),
    "ranks": _ranks,
    "quota": lambda: refused_below_quota(CONTRACT.quota, ROWS, OCTOBER),
    "daily": lambda: daily_query(ROWS, [0, 86_400_000_000]),
    "evidence": lambda: hours_query(ROWS, OCTOBER),
}


@pytest.mark.parametrize("name", QUERIES)
def test_the_query_is_the_one_on_file(name):
    query = QUERIES[name]()
    parameters = json.dumps(dict(query.parameters), ensure_ascii=False, indent=1)
    text = f"{query.sql}\n\n/* {parameters} */\n"
    path = GOLDEN / f"{name}.sql"
    if os.environ.get("FAIRCLOCK_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", QUERIES)
def test_no_name_or_number_of_the_contract_stands_in_the_text(name):
    text = QUERIES[name]().sql
    assert not [
        word for word in ("DROP", "chat/completions", "QpsExceeded", "2048", "2000000") if word in text
    ]


def test_the_edges_of_a_period_are_a_search_and_not_a_list_of_comparisons():
    many = [
        Interval(start=datetime(2026, 10, day, tzinfo=UTC), end=datetime(2026, 10, day, 1, tzinfo=UTC))
        for day in range(1, 31)
    ]
    assert inside(many, name="x").sql == inside(many[:1], name="x").sql


def test_two_values_for_one_parameter_are_refused():
    with pytest.raises(ValueError, match="two values"):
        select([sql("{a:Int64}", a=1)], sql("{a:Int64}", a=2))


def test_every_clock_is_a_column_of_the_dataset():
    text = dataset(SUBJECT, ROWS, OCTOBER).sql
    assert [clock for clock in Clock if f" AS clock_{clock}" not in text] == []
