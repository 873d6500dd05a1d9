"""Rating adds only what is missing, whatever was rated before, in whatever order rows came."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from billing.ledger import Draft, EntryKind, PeriodState, Standing, differences, still_standing, targets
from billing.usage import Treatment
from tests.ledger.factories import HOUR, START, UTC_MONTHS, ByTokens, a_usage

COUNTS = st.integers(0, 10**6)
USAGES = st.lists(
    st.builds(
        lambda tenant, hour, treatment, requests, tokens, picoseconds: a_usage(
            tenant=tenant,
            start=START + hour * HOUR,
            end=START + (hour + 1) * HOUR,
            treatment=treatment,
            requests=requests,
            completion_tokens=tokens,
            gpu_picoseconds=picoseconds,
        ),
        st.sampled_from(["acme", "globex"]),
        st.integers(0, 3),
        st.sampled_from(Treatment),
        COUNTS,
        COUNTS,
        st.integers(0, 10**15),
    ),
    max_size=12,
)


class Books:
    """A ledger in memory: what is added gets the next place."""

    def __init__(self):
        self.entries: dict[str, list[tuple[int, Draft]]] = {}

    def rate(self, usages, prices=None, known=None):
        wanted = targets(usages, (prices or ByTokens()).rate, UTC_MONTHS)
        standing = [each for found in self.entries.values() for each in still_standing(found)]
        added = differences(wanted, standing, known or {})
        for draft in added:
            found = self.entries.setdefault(draft.tenant, [])
            found.append((len(found) + 1, draft))
        return added

    @property
    def drafts(self):
        return [draft for found in self.entries.values() for _, draft in found]

    def owed(self):
        owed: dict[str, Fraction] = {}
        for draft in self.drafts:
            owed[draft.tenant] = owed.get(draft.tenant, Fraction(0)) + draft.amount
        return {tenant: amount for tenant, amount in owed.items() if amount}

    def says(self):
        return sorted(
            draft.content_sha256()
            for found in self.entries.values()
            for draft in (each.draft for each in still_standing(found))
        )


@given(USAGES)
def test_rating_again_adds_nothing(usages):
    books = Books()
    books.rate(usages)
    assert books.rate(usages) == []


@given(USAGES, st.randoms(use_true_random=False))
def test_the_order_of_arrival_changes_nothing(usages, random):
    shuffled = list(usages)
    random.shuffle(shuffled)
    once, other = Books(), Books()
    assert once.rate(usages) == other.rate(shuffled)


@given(USAGES, st.lists(st.integers(0, 12), max_size=4))
def test_late_rows_and_all_at_once_come_to_the_same(usages, cuts):
    once, late = Books(), Books()
    once.rate(usages)
    for cut in sorted(cuts):
        late.rate(usages[:cut])
    before = late.owed()
    added = late.rate(usages)
    assert late.says() == once.says()
    assert late.owed() == once.owed()
    gained = {each.tenant: Fraction(0) for each in added}
    for each in added:
        gained[each.tenant] += each.amount
    assert gained == {
        tenant: once.owed().get(tenant, Fraction(0)) - before.get(tenant, Fraction(0)) for tenant in gained
    }


@given(USAGES, st.integers(1, 5))
def test_a_split_of_the_requests_costs_the_same(usages, parts):
    split = [
        replace(
            usage,
            requests=usage.requests // parts + (usage.requests % parts if number == 0 else 0),
            completion_tokens=usage.completion_tokens if number == 0 else 0,
            uncached_prompt_tokens=usage.uncached_prompt_tokens if number == 0 else 0,
            cached_prompt_tokens=usage.cached_prompt_tokens if number == parts - 1 else 0,
            gpu_picoseconds=usage.gpu_picoseconds if number == parts - 1 else 0,
        )
        for usage in usages
        for number in range(parts)
    ]
    whole, parted = Books(), Books()
    assert whole.rate(usages) == parted.rate(split)


@given(USAGES)
def test_prices_that_change_and_change_back_leave_what_was_owed(usages):
    books = Books()
    books.rate(usages)
    owed, says = books.owed(), books.says()
    books.rate(usages, ByTokens(version="p2", per_call=Fraction("0.0003")))
    books.rate(usages)
    assert books.owed() == owed
    assert books.says() == says


@settings(max_examples=30)
@given(USAGES)
def test_a_price_is_asked_once_a_kind_of_usage(usages):
    prices = ByTokens()
    targets(usages, prices.rate, UTC_MONTHS)
    kinds = {(each.tenant, each.start, each.treatment) for each in usages}
    assert len(prices.asked) == len(kinds)


def test_an_hour_that_changed_is_taken_back_and_made_anew():
    books = Books()
    books.rate([a_usage(), a_usage(start=START + HOUR, end=START + 2 * HOUR)])
    added = books.rate([a_usage(requests=11), a_usage(start=START + HOUR, end=START + 2 * HOUR)])
    assert [(each.kind, each.reverses) for each in added] == [(EntryKind.REVERSAL, 1), (EntryKind.USAGE, 0)]
    assert sum(each.amount for each in added) == Fraction("0.0001")


def test_an_hour_is_cut_where_its_price_changes():
    half = START + timedelta(minutes=30)
    books = Books()
    books.rate([a_usage()])
    added = books.rate([a_usage(end=half, requests=4), a_usage(start=half, end=START + HOUR, requests=6)])
    assert [each.kind for each in added] == [EntryKind.REVERSAL, EntryKind.USAGE, EntryKind.USAGE]


def test_what_is_late_for_a_final_month_is_booked_in_the_next_that_is_not():
    books = Books()
    books.rate([a_usage()])
    known = {
        "acme": {"2026-10": PeriodState.FINAL, "2026-11": PeriodState.FINAL, "2026-12": PeriodState.DRAFT}
    }
    added = books.rate([a_usage(requests=12)], known=known)
    assert [(each.period, each.about) for each in added] == [("2026-12", "2026-10")] * 2
    assert sum(draft.amount for draft in books.drafts if draft.period == "2026-10") == Fraction("0.00355")


def test_what_was_taken_back_stands_no_more():
    books = Books()
    books.rate([a_usage()])
    books.rate([])
    assert still_standing(books.entries["acme"]) == []
    assert books.owed() == {}
    assert [type(each) for each in still_standing([(1, books.drafts[0])])] == [Standing]
