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
from sla.evaluation.counting import objective_aggregates, ranked_by
from sla.evaluation.daily import daily_query
from sla.evaluation.dataset import dataset
from sla.evaluation.evidence import hours_query
from sla.evaluation.fragments import named, select, sql
from sla.evaluation.instants import inside
from sla.evaluation.quota import refused_below_quota
from sla.evaluation.ranking import values_at_ranks
from sla.evaluation.traffic import traffic_aggregates
from sla.evaluation.values import known_aggregates
from tests.evaluation.factories import a_contract, availability, latency

GOLDEN = Path(__file__).parent / "golden"
OCTOBER = Interval(start=datetime(2026, 9, 30, 16, tzinfo=UTC), end=datetime(2026, 10, 31, 16, tzinfo=UTC))
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
        str(number): ranked_by(number, CONTRACT.objectives[number], ranks=(50, 99, 100), count=100)
        for number in range(3)
    }
    with pytest.raises(ValueError, match="zip"):  # the answer is not looked at
        values_at_ranks(asked, ROWS, ranked)
    return asked.query


QUERIES = {
    "dataset": lambda: dataset(CONTRACT, ROWS, OCTOBER),
    "traffic": lambda: _columns(traffic_aggregates([OCTOBER]) | known_aggregates()),
    "objectives": lambda: _columns(
        {
            name: expression
            for number, objective in enumerate(CONTRACT.objectives)
            for name, expression in objective_aggregates(number, objective).items()
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
    text = dataset(CONTRACT, ROWS, OCTOBER).sql
    assert [clock for clock in Clock if f" AS clock_{clock}" not in text] == []
