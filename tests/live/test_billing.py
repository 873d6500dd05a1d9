"""Three tenants at once on real vLLM: what is billed is what the answers say, and the machine's time is all somebody's or nobody's."""

from collections import defaultdict
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from billing.bookkeeping.books import anchors, books_at, drafts_of, stored_rows
from billing.bookkeeping.cost_books import engine_costs
from billing.bookkeeping.price_books import BookPrices, keep_versions
from billing.bookkeeping.rating import rate
from billing.cost_book.machines import EngineMachine
from billing.cost_book.reading import read_cost_book
from billing.cost_book.settings import CostBookSettings
from billing.ledger import verify
from billing.ledger.views import table
from billing.prices.loading import load_price_book
from billing.usage import Treatment
from billing.usage.reading import read_usage
from fairclock.demo.live.calls import ACME_KEY, BURSTY_KEY, GLOBEX_KEY
from fairclock.model import Interval, Outcome, from_us, to_us
from fairclock.store import Query, open_store
from fairclock.store.ledger import EntryChoice

pytestmark = pytest.mark.integration

TENANTS = {ACME_KEY: "acme", GLOBEX_KEY: "globex", BURSTY_KEY: "bursty"}
BOOK = Path(__file__).parents[2] / "examples" / "prices.yaml"
PICOSECONDS = 10**12


@pytest.fixture(scope="module")
def opened(result):
    with open_store(f"chdb://{result.store}") as store:
        yield store


@pytest.fixture(scope="module")
def ran(opened):
    """The time from a second before the first request was received to a second after the last was answered."""
    ((first, last),) = opened.rows(
        Query(
            sql="SELECT min(received_at), max(addMicroseconds(received_at, responded_us)) FROM gateway_requests"
        )
    )
    return Interval(start=first - timedelta(seconds=1), end=last + timedelta(seconds=1))


@pytest.fixture(scope="module")
def settings(opened, ran):
    """One CPU, configured as the machine of the engine that ran, for as long as it did."""
    (engine,) = read_cost_book(opened, ran, opened.watermark(), CostBookSettings()).unknown
    cpu = EngineMachine(
        engine=engine.engine,
        machine="CPU",
        gpus=Fraction(1),
        from_us=to_us(ran.start),
        to_us=to_us(ran.end),
    )
    return CostBookSettings(machines=(cpu,))


@pytest.fixture(scope="module")
def billed(opened, ran, settings):
    """The ledger's rows by tenant and treatment, after it was rated and every link looked at."""
    book = BookPrices(load_price_book(BOOK))
    hour = 3_600_000_000
    hours = Interval(
        start=from_us(to_us(ran.start) // hour * hour), end=from_us(-(-to_us(ran.end) // hour) * hour)
    )
    keep_versions(opened, book.book, until=hours.end)
    cuts = sorted({hours.start, hours.end, *book.months.bounds(hours)})
    rate(
        opened,
        lambda as_of: read_usage(opened, hours, as_of, settings, cuts=cuts),
        hours,
        as_of=opened.watermark(),
        prices=book,
        months=book.months,
    )
    known = opened.watermark()
    assert verify(stored_rows(opened, known), anchors(opened, known)) == []
    found = drafts_of(opened, books_at(opened, known), EntryChoice())
    return {
        row.keys: row
        for row in table((each for of in found.values() for _, each in of), ["tenant", "treatment"])
    }


def test_the_tokens_billed_are_those_that_the_answers_say(result, billed):
    said = defaultdict(lambda: [0, 0, 0])
    for each in result.seen:
        if each.outcome is Outcome.OK:
            of = said[TENANTS[each.call.api_key]]
            of[0] += 1
            of[1] += each.usage["prompt_tokens"]
            of[2] += each.usage["completion_tokens"]
    assert set(said) == set(TENANTS.values())
    completed = {
        tenant: [row.requests, row.prompt_tokens, row.completion_tokens]
        for (tenant, treatment), row in billed.items()
        if treatment == Treatment.COMPLETED
    }
    assert completed == dict(said)


def test_every_other_request_stands_on_a_line_of_its_own(result, billed):
    assert sum(row.requests for row in billed.values()) == len(result.seen)
    left = sum(each.outcome is Outcome.CLIENT_ABORTED for each in result.seen)
    assert sum(row.requests for (_, how), row in billed.items() if how == Treatment.ABORTED) == left
    assert all(
        row.completion_tokens == 0 for (_, how), row in billed.items() if how != Treatment.COMPLETED
    ), "no answer came whole there, so none is invented"


def test_the_machines_time_is_wall_time_and_everybodys_sums_to_it(opened, ran, settings, billed):
    times = read_cost_book(opened, ran, opened.watermark(), settings).times
    (cost,) = engine_costs(times, load_price_book(BOOK))
    assert cost.whole_picoseconds == ran.length_us * 10**6
    assert cost.picoseconds["idle"] > 0
    assert cost.amount == Fraction(ran.length_us, 10**6) * Fraction("0.0001")
    assert cost.unpriced == 0
    of_tenants = defaultdict(int)
    for (tenant, _), row in billed.items():
        of_tenants[tenant] += row.gpu_picoseconds
    assert min(of_tenants.values()) > 0
    assert sum(of_tenants.values()) == cost.picoseconds["tenants"]
