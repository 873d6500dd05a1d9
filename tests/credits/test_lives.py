"""A credit's life, and what of it reaches the ledger."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from billing.bookkeeping import credits as credits_kept
from billing.bookkeeping.books import anchors, books_at, drafts_of, post, stored_rows
from billing.bookkeeping.closing import Closing, close_month
from billing.bookkeeping.credits import credit_entries, deduct, grant, keep_computed, step
from billing.credits import CreditState, credits_at, holds
from billing.credits.further import Reopened, further_id, with_further
from billing.ledger import PeriodState, verify, write_exact
from fairclock.errors import UsageError
from fairclock.model import from_us
from fairclock.store import ledger as kept_money
from fairclock.store import open_store
from fairclock.store.batches import write_stamp
from fairclock.store.ledger import EntryChoice
from tests.credits.factories import CLOSES, OPENS, a_credit
from tests.ledger.factories import HOUR, START, UTC_MONTHS, ByTokens, a_draft

DAY = timedelta(days=1)
LATER = datetime(2100, 1, 1, tzinfo=UTC)
CLAIMED, GRANTED, REFUSED = CreditState.CLAIMED, CreditState.GRANTED, CreditState.REFUSED


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('store')}") as opened:
        yield opened


def said(state, sequence, **changes):
    return a_credit(
        state=CreditState(state),
        sequence=sequence,
        stored_at=datetime(2026, 11, sequence, tzinfo=UTC),
        **changes,
    )


@pytest.mark.parametrize(
    ("answers", "now", "state"),
    [
        pytest.param([], OPENS - DAY, "computed", id="before it opens"),
        pytest.param([], OPENS, "claimable", id="as it opens"),
        pytest.param(
            [], CLOSES - timedelta(microseconds=1), "claimable", id="to the last instant of its last day"
        ),
        pytest.param([], CLOSES, "expired", id="unclaimed at its end"),
        pytest.param([said("claimed", 2)], CLOSES + DAY, "claimed", id="claimed in time stays claimed"),
        pytest.param([said("claimed", 2), said("granted", 3)], CLOSES + DAY, "granted", id="granted"),
        pytest.param([said("claimed", 2), said("refused", 3)], OPENS, "refused", id="refused"),
        pytest.param(
            [said("granted", 3), said("claimed", 2)], OPENS, "granted", id="whatever order rows come in"
        ),
    ],
)
def test_states(answers, now, state):
    (found,) = credits_at([said("computed", 1), *answers], now)
    assert str(found.state) == state


def test_a_claim_keeps_the_revision_that_was_claimed():
    later = said("computed", 3, revision=2, amount=Fraction(50))
    (found,) = credits_at([said("computed", 1), said("claimed", 2), later], OPENS)
    assert (found.entry.amount, found.computed.amount) == (100, 50)


def test_a_claim_that_nobody_decided_on_is_overdue():
    claimed = said("claimed", 2, decide_by=OPENS + 30 * DAY)
    (found,) = credits_at([said("computed", 1), claimed], CLOSES)
    assert (found.overdue(OPENS + 29 * DAY), found.overdue(OPENS + 30 * DAY)) == (False, True)


def owed(store, tenant):
    found = drafts_of(store, books_at(store, store.watermark()), EntryChoice(tenants=(tenant,)))
    return [(draft.period, draft.about, draft.amount) for _, draft in found.get(tenant, ())]


def test_only_a_granted_credit_reduces_what_is_owed_and_once(store):
    credit = a_credit(id="cr-life", shares={"acme": Fraction(70), "acme-2": Fraction(30)})
    keep_computed(store, [credit], contract=credit.contract, month=credit.month)
    assert keep_computed(store, [credit], contract=credit.contract, month=credit.month) == []
    claimed = step(store, "cr-life", CLAIMED, author="Zhang", now=OPENS, decide_within=30 * DAY)
    assert claimed.decide_by == OPENS + 30 * DAY
    assert deduct(store, claimed, UTC_MONTHS) == []
    assert owed(store, "acme") == []
    granted = step(store, "cr-life", GRANTED, author="Ops", comment="agreed", now=CLOSES)
    assert len(deduct(store, granted, UTC_MONTHS)) == 2
    assert deduct(store, granted, UTC_MONTHS) == []
    assert owed(store, "acme") == [("2026-11", "2026-10", -70)]
    assert owed(store, "acme-2") == [("2026-11", "2026-10", -30)]
    now = store.watermark()
    assert verify(stored_rows(store, now), anchors(store, now)) == []
    with pytest.raises(UsageError, match="it is granted"):
        step(store, "cr-life", REFUSED, author="Ops", now=CLOSES)


def test_a_month_that_is_computed_anew_is_a_revision_and_what_is_no_longer_due_is_nothing(store):
    first = a_credit(id="cr-new", contract="anew")
    keep_computed(store, [first], contract="anew", month="2026-10")
    (second,) = keep_computed(store, [replace(first, amount=Fraction(50))], contract="anew", month="2026-10")
    assert (second.revision, second.sequence) == (2, 2)
    (third,) = keep_computed(store, [], contract="anew", month="2026-10")
    assert (third.revision, third.amount) == (3, 0)
    assert keep_computed(store, [], contract="anew", month="2026-10") == []
    assert [each.revision for each in credit_entries(store, store.watermark(), id="cr-new")] == [1, 2, 3]


@pytest.mark.parametrize("form", ["voucher", "cash"])
def test_what_is_paid_otherwise_is_not_deducted(store, form):
    credit = a_credit(id=f"cr-{form}", form=form, state=GRANTED, shares={form: Fraction(100)})
    assert deduct(store, credit, UTC_MONTHS) == []
    assert owed(store, form) == []


@pytest.mark.parametrize(
    ("wanted", "now", "author", "says"),
    [
        pytest.param(CLAIMED, OPENS - DAY, "Zhang", "can be claimed from 2026-11-06", id="too early"),
        pytest.param(CLAIMED, CLOSES, "Zhang", "it is expired since 2027-01-01", id="too late"),
        pytest.param(GRANTED, OPENS, "Ops", "has to claim it first", id="granted before it was claimed"),
        pytest.param(CLAIMED, OPENS, " ", "is empty", id="by nobody"),
    ],
)
def test_steps_that_cannot_be_taken(store, wanted, now, author, says):
    keep_computed(store, [a_credit(id="cr-steps", contract="steps")], contract="steps", month="2026-10")
    with pytest.raises(UsageError, match=says):
        step(store, "cr-steps", wanted, author=author, now=now)


def test_a_credit_that_needs_no_claim_is_granted_at_once(store):
    keep_computed(
        store, [a_credit(id="cr-free", contract="free", needs_claim=False)], contract="free", month="2026-10"
    )
    assert step(store, "cr-free", GRANTED, author="Ops", now=OPENS - DAY).state is GRANTED


def claimed_credit(store, name, tenant):
    """Write down a credit of 100 for a tenant, and claim it."""
    credit = a_credit(id=name, contract=name, shares={tenant: Fraction(100)})
    keep_computed(store, [credit], contract=name, month=credit.month)
    return step(store, name, CLAIMED, author="Zhang", now=OPENS)


class KilledError(BaseException):
    """Where a process ends."""


def killed_after_granting(store, monkeypatch, name):
    def die(*_):
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(credits_kept, "deduct", die)
        with pytest.raises(KilledError):
            grant(store, name, UTC_MONTHS, author="Ops", now=OPENS)


def test_a_grant_that_is_repeated_after_a_kill_takes_the_credit_off_and_once(store, monkeypatch):
    claimed_credit(store, "cr-killed", "killed")
    killed_after_granting(store, monkeypatch, "cr-killed")
    assert owed(store, "killed") == []
    for entries in (1, 0):
        again, added = grant(store, "cr-killed", UTC_MONTHS, author="Ops", now=OPENS)
        assert (again.state, len(added)) == (GRANTED, entries)
        assert owed(store, "killed") == [("2026-11", "2026-10", -100)]
    assert [str(each.state) for each in credit_entries(store, store.watermark(), id="cr-killed")] == [
        "computed",
        "claimed",
        "granted",
    ]


def test_closing_a_month_takes_off_what_was_granted_before_a_kill_and_once(store, monkeypatch):
    """It is in the total of the month that is closed."""
    claimed_credit(store, "cr-closed", "credited")
    killed_after_granting(store, monkeypatch, "cr-closed")
    post(store, lambda books: [] if "credited" in books.heads else [
        a_draft(tenant="credited", start=START + 31 * DAY, end=START + 31 * DAY + HOUR, period="2026-11", about="2026-11")
    ])  # fmt: skip
    for state in PeriodState.DRAFT, PeriodState.FINAL:
        closing = Closing(month="2026-11", state=state, grace=DAY, tenants=("credited",))
        close_month(
            store, closing, prices=ByTokens(), months=UTC_MONTHS, now=CLOSES + 30 * DAY, currency="USD"
        )
        credited = [each for each in owed(store, "credited") if each[2] < 0]
        assert credited == [("2026-11", "2026-10", -100)]
    found = drafts_of(
        store,
        books_at(store, store.watermark()),
        EntryChoice(tenants=("credited",), kinds=("close",)),
    )
    totals = {draft.facts["total_USD"] for _, draft in found["credited"]}
    assert totals == {write_exact(sum((each[2] for each in owed(store, "credited")), Fraction(0)))}


def test_a_step_waits_for_writes_that_began_before_it_and_blames_nobody(store, monkeypatch):
    monkeypatch.setattr(kept_money, "_WAIT_SECONDS", 600)  # this thread may be without a turn for long
    credit = a_credit(id="cr-slow", contract="slow")
    keep_computed(store, [credit], contract="slow", month=credit.month)
    with ThreadPoolExecutor(1) as pool:
        with write_stamp(store._connection) as open_since:
            claim = pool.submit(step, store, "cr-slow", CLAIMED, author="Zhang", now=OPENS)
            deadline = time.monotonic() + 120
            while not claim.done() and len(credit_entries(store, LATER, id="cr-slow")) == 1:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            assert store.watermark() < from_us(open_since)
            assert not claim.done()
        assert claim.result().state is CLAIMED


def test_of_two_who_decide_at_once_one_does(store):
    claimed_credit(store, "cr-raced", "raced")

    def decide(wanted):
        try:
            return step(store, "cr-raced", wanted, author="Ops", now=OPENS).state
        except UsageError:
            return None

    with ThreadPoolExecutor(2) as pool:
        decided = [each for each in pool.map(decide, [GRANTED, REFUSED]) if each is not None]
    (found,) = credits_at(credit_entries(store, store.watermark(), id="cr-raced"), OPENS)
    assert decided == [found.state]


def test_of_two_steps_of_one_instant_one_holds_whoever_asks():
    same = [said("granted", 3), replace(said("refused", 3), author="Li")]
    assert [holds(each, same) for each in same] == [True, False] == [holds(each, same[::-1]) for each in same]
    assert {credits_at([said("computed", 1), *each], OPENS)[0].state for each in (same, same[::-1])} == {
        GRANTED
    }


def test_who_comes_second_is_told_what_was_first(store, monkeypatch):
    real = claimed_credit(store, "cr-second", "second")

    def first_somebody_else(store_, entry):
        monkeypatch.undo()
        step(store, real.id, REFUSED, author="Li", comment="no", now=OPENS)
        return credits_kept._kept(store_, entry)

    monkeypatch.setattr(credits_kept, "_kept", first_somebody_else)
    with pytest.raises(UsageError, match="something else was written first: it is refused"):
        step(store, real.id, GRANTED, author="Ops", now=OPENS)


def kept_anew(store, credit, amount, at=OPENS):
    """Compute a contract's month anew, and return what was written down of it."""
    known = credits_at(credit_entries(store, store.watermark(), contract=credit.contract), at)
    shares = dict.fromkeys(credit.shares, Fraction(amount))
    computed = [
        replace(credit, state=CreditState.COMPUTED, author="", amount=Fraction(amount), shares=shares)
    ]
    found = with_further(
        computed, known, at=at,
        reopened=lambda at: Reopened(opens_at=at, closes_at=at + 60 * DAY, last_day="later"),
    )  # fmt: skip
    return keep_computed(store, found, contract=credit.contract, month=credit.month)


@pytest.mark.parametrize("amount", [60, 140])
def test_a_claim_is_granted_as_it_was_computed_last_and_both_amounts_are_kept(store, amount):
    name = f"cr-newest-{amount}"
    claimed = claimed_credit(store, name, name)
    kept_anew(store, claimed, amount)
    granted, added = grant(store, name, UTC_MONTHS, author="Ops", now=OPENS)
    assert (granted.amount, granted.revision, granted.author) == (amount, 2, "Ops")
    assert granted.facts["claimed_as"] == {"revision": 1, "amount": "100"}
    assert [each.draft.amount for each in added] == [-amount]
    (stored,) = credits_at(credit_entries(store, store.watermark(), id=name), OPENS)
    assert (stored.entry.amount, stored.entry.facts["claimed_as"]["amount"]) == (amount, "100")


def test_what_comes_to_more_after_a_grant_is_a_further_credit_and_what_comes_to_less_is_not_taken_back(store):
    first = claimed_credit(store, "cr-first", "further")
    grant(store, first.id, UTC_MONTHS, author="Ops", now=OPENS)
    anew = kept_anew(store, first, 130)
    assert [(each.id, each.amount) for each in anew if each.id != first.id] == [(further_id(first.id, 1), 30)]
    (more,) = [each for each in anew if each.id != first.id]
    assert more.facts["further_to"] == first.id
    assert (more.opens_at, more.closes_at) == (first.opens_at, first.closes_at)
    assert kept_anew(store, first, 130) == []
    # less, but not less than was granted; then less than that
    (less,) = [each for each in kept_anew(store, first, 120) if each.id == more.id]
    assert less.amount == 20
    assert {each.id: each.amount for each in kept_anew(store, first, 90)} == {first.id: 90, more.id: 0}
    kept_anew(store, first, 130)
    step(store, more.id, CLAIMED, author="Zhang", now=OPENS)
    grant(store, more.id, UTC_MONTHS, author="Ops", now=OPENS)
    assert sum(each[2] for each in owed(store, "further")) == -130
    # as much as was granted: nothing is further, and neither is said to have fallen
    assert kept_anew(store, first, 130) == []
    again = {each.id: each.amount for each in kept_anew(store, first, 135)}
    assert again == {first.id: 135, further_id(first.id, 2): 5}
    fallen = {each.id: each.amount for each in kept_anew(store, first, 110)}
    assert fallen == {first.id: 110, more.id: 10, further_id(first.id, 2): 0}
    states = {
        each.computed.id: (str(each.state), each.entry.amount)
        for each in credits_at(credit_entries(store, store.watermark(), contract=first.contract), OPENS)
    }
    assert (states[first.id], states[more.id]) == (("granted", 100), ("granted", 30))
    assert sum(each[2] for each in owed(store, "further")) == -130


def test_a_further_credit_that_comes_after_the_claims_closed_is_claimable_from_then_on(store):
    first = claimed_credit(store, "cr-late", "late")
    grant(store, first.id, UTC_MONTHS, author="Ops", now=OPENS)
    late = CLOSES + DAY
    (more,) = [each for each in kept_anew(store, first, 130, at=late) if each.id != first.id]
    assert (more.opens_at, more.closes_at, more.facts["last_day"]) == (late, late + 60 * DAY, "later")
    # its dates do not move with every close, unless it comes to more
    assert kept_anew(store, first, 130, at=late + DAY) == []
    (raised,) = [each for each in kept_anew(store, first, 150, at=late + 2 * DAY) if each.id == more.id]
    assert raised.opens_at == late + 2 * DAY
    assert step(store, more.id, CLAIMED, author="Zhang", now=late + 3 * DAY).amount == 50


def test_what_falls_for_one_tenant_is_not_taken_from_another():
    shares = {"a": Fraction(60), "b": Fraction(40)}
    granted = said("granted", 3, shares=shares)
    known = credits_at([said("computed", 1, shares=shares), granted], OPENS)
    computed = said("computed", 4, amount=Fraction(110), shares={"a": Fraction(90), "b": Fraction(20)})
    found = with_further([computed], known, at=OPENS, reopened=lambda at: None)
    assert [each.shares for each in found[1:]] == [{"a": 30}]


def test_parts_at_other_rates_of_tax_sum_to_what_it_comes_to():
    def taxed(**rates):
        return {"taxed": [
            {"tenant": "a", "tax_rate": rate.replace("_", "") + "%", "net": net, "tax": tax} for rate, (net, tax) in rates.items()
        ], "amount_with_tax": "0"}  # fmt: skip

    shares = {"a": Fraction(100)}
    before = {"shares": shares, "facts": taxed(_6=("100", "6"))}
    known = credits_at([said("computed", 1, **before), said("granted", 3, **before)], OPENS)
    facts = taxed(_6=("90", "5.4"), _9=("30", "2.7"))
    computed = said("computed", 4, amount=Fraction(120), shares={"a": Fraction(120)}, facts=facts)
    (_, more) = with_further([computed], known, at=OPENS, reopened=lambda at: None)
    assert (more.amount, more.shares, more.facts["amount_with_tax"]) == (20, {"a": 20}, "22.1")


def test_an_unknown_credit(store):
    with pytest.raises(UsageError, match="no such credit"):
        step(store, "cr-none", CLAIMED, author="Zhang", now=OPENS)
