"""Whatever somebody does to a ledger is found, at its place; what two raters do at once is no fault."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.ledger import Anchor, Entry, EntryKind, columns_of, sealed, settle, verify
from billing.ledger.entries import chained
from billing.ledger.rating import Standing, reversal
from tests.ledger.factories import HOUR, START, a_chain, a_draft, forged, stored


def ends(entries):
    return [Anchor(each.draft.tenant, each.sequence, each.hash()) for each in entries[-1:]]


def test_a_ledger_that_nobody_touched_has_no_fault():
    entries = [*a_chain(5), *a_chain(3, "globex")]
    assert verify(stored(entries), [*ends(a_chain(5)), *ends(entries)]) == []
    assert verify([]) == []


def rewritten(rows, at):
    """Change the amount of an entry and write its hash anew, as somebody who knows the rules would."""
    row = rows[at]
    entry = a_chain(len(rows))[at]
    items = tuple(
        replace(item, charges=tuple(replace(charge, amount=charge.amount / 2) for charge in item.charges))
        for item in entry.draft.items
    )
    other = replace(entry, draft=replace(entry.draft, items=items))
    return [*rows[:at], forged(row, **columns_of(other)), *rows[at + 1 :]]


def swapped(rows):
    """Exchange the places of two entries."""
    second, third = rows[1], rows[2]
    moved = forged(third, sequence=2), forged(second, sequence=3)
    return [rows[0], *moved, *rows[3:]]


TAMPERINGS = [
    pytest.param(
        lambda rows: [*rows[:2], forged(rows[2], body=rows[2].body.replace(b'"requests":10', b'"requests":11')), *rows[3:]],
        3, "do not give its hash", id="a number in an entry",
    ),
    pytest.param(lambda rows: rewritten(rows, 2), 4, "changed or replaced", id="an entry whose hash was written anew"),
    pytest.param(lambda rows: rewritten(rows, 4), 5, "another entry holds", id="the last entry, with its hash"),
    pytest.param(lambda rows: [*rows[:1], *rows[2:]], 2, "missing", id="an entry in the middle deleted"),
    pytest.param(lambda rows: rows[1:], 1, "missing", id="the first entry deleted"),
    pytest.param(lambda rows: rows[:-1], 5, "missing", id="the last entry deleted"),
    pytest.param(lambda rows: [], 5, "missing", id="everything deleted"),
    pytest.param(swapped, 2, "column sequence", id="two entries exchanged"),
    pytest.param(
        lambda rows: [*rows[:3], forged(rows[3], amount="0"), rows[4]], 4, "column amount", id="a column only",
    ),
    pytest.param(
        lambda rows: [*rows[:3], forged(rows[3], period="2026-09"), rows[4]], 4, "column period", id="its month",
    ),
    pytest.param(
        lambda rows: [*rows[:3], forged(rows[3], previous=rows[1].hash), rows[4]], 4, "hash", id="its link",
    ),
    pytest.param(
        lambda rows: [*rows[:3], forged(rows[3], stored_at=START - HOUR), rows[4]], 4, "stored_at", id="when it was stored",
    ),
    pytest.param(
        lambda rows: [*rows, *stored(sealed([a_draft(start=START - HOUR)], {}), START - HOUR)],
        5, "another entry holds", id="a rival put in before the first entry",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("tamper", "sequence", "says"), TAMPERINGS)
def test_tampering_is_found_where_it_was_done(tamper, sequence, says):
    entries = a_chain(5)
    rows = stored(entries)
    faults = verify(tamper(rows), ends(entries))
    assert [each for each in faults if each.sequence == sequence and says in each.problem], faults
    assert {each.tenant for each in faults} == {"acme"}


@given(st.data())
def test_no_byte_of_a_row_can_be_changed_unnoticed(data):
    entries = a_chain(3)
    rows = stored(entries)
    at = data.draw(st.integers(0, 2))
    body = rows[at].body
    place = data.draw(st.integers(0, len(body) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda each: each != body[place]))
    changed = body[:place] + bytes([byte]) + body[place + 1 :]
    rows[at] = forged(rows[at], body=changed)
    assert [each.sequence for each in verify(rows, ends(entries))] == [at + 1]
    rows[at] = forged(rows[at], hash=chained(rows[at].previous, changed))
    assert verify(rows, ends(entries))


@given(st.permutations(range(6)), st.sets(st.integers(0, 5)))
def test_the_order_in_which_rows_are_read_and_rows_read_twice_say_nothing(order, twice):
    rows = stored(a_chain(6))
    shuffled = [rows[each] for each in order] + [forged(rows[each], stored_at=START + HOUR) for each in twice]
    assert verify(shuffled, ends(a_chain(6))) == []


def test_of_two_who_add_at_once_the_first_holds_and_the_other_is_no_fault():
    shared = a_chain(2)
    head = {"acme": settle(each.link for each in stored(shared))["acme"].head}
    mine = sealed([a_draft(start=START + 10 * HOUR)], head)
    yours = sealed([a_draft(start=START + 20 * HOUR), a_draft(start=START + 21 * HOUR)], head)
    rows = [
        *stored(shared),
        *stored(mine, START + timedelta(seconds=10)),
        *stored(yours, START + timedelta(seconds=11)),
    ]
    settled = settle(each.link for each in rows)["acme"]
    assert [each.hash for each in settled.links] == [each.hash() for each in (*shared, *mine)]
    assert settled.beside == {each.hash() for each in yours}
    assert verify(rows, ends(mine)) == []


def test_an_amount_that_is_taken_back_twice_or_not_as_it_was():
    entries = a_chain(1)
    back = reversal(Standing(sequence=1, draft=entries[0].draft))
    head = {"acme": settle([stored(entries)[0].link])["acme"].head}
    assert verify(stored([*entries, *sealed([back], head)])) == []
    twice = verify(stored([*entries, *sealed([back, back], head)]))
    assert [(each.sequence, "already" in each.problem) for each in twice] == [(3, True)]
    item = back.items[0]
    less = replace(back, items=(replace(item, charges=(replace(item.charges[0], amount=Fraction(-1)),)),))
    assert [
        "not the amounts" in each.problem for each in verify(stored([*entries, *sealed([less], head)]))
    ] == [True]


@pytest.mark.parametrize(
    ("said", "says"),
    [
        pytest.param({"currency": "CNY"}, "its currency is another: CNY for USD", id="another currency"),
        pytest.param({"price_version": "p2"}, "its version of the prices is another: p2 for p1", id="another version of the prices"),
        pytest.param({"about": "2026-09"}, "the month it is about is another", id="another month that it is about"),
        pytest.param({"period": "2026-11"}, "the month it is booked in is another: 2026-11 for 2026-10", id="a later month while its own is not final"),
        pytest.param({"start": START - HOUR}, "its beginning is another", id="an earlier beginning"),
        pytest.param({"end": START + 2 * HOUR}, "its end is another", id="a later end"),
        pytest.param({"subject": "minimum"}, "its subject is another", id="another subject"),
    ],
)  # fmt: skip
def test_a_reversal_that_differs_from_what_it_takes_back_is_found_for(said, says):
    entries = [*a_chain(1), *a_chain(1, "globex")]
    back = replace(reversal(Standing(sequence=1, draft=entries[0].draft)), **said)
    head = {"acme": settle([stored(entries)[0].link])["acme"].head}
    faults = verify(stored([*entries, *sealed([back], head)]))
    assert [(each.tenant, each.sequence, says in each.problem) for each in faults] == [("acme", 2, True)], (
        faults
    )


def test_a_reversal_is_booked_after_its_months_that_are_final():
    close = a_draft(kind=EntryKind.CLOSE, items=(), subject="final", facts={"state": "final"})
    back = reversal(Standing(sequence=1, draft=a_draft()))
    moved = replace(back, period="2026-11")
    assert verify(stored(sealed([a_draft(), close, moved], {}))) == []
    (fault,) = verify(stored(sealed([a_draft(), close, back], {})))
    assert (fault.sequence, "2026-10 for 2026-11" in fault.problem) == (3, True)


def put_at(sequence):
    """Return a row with a sound hash at a place of somebody's choice, after the first entry."""
    first = a_chain(1)[0]
    entry = Entry(draft=a_draft(start=START + 9 * HOUR), sequence=sequence, previous=first.hash())
    return [*stored([first]), *stored([entry], START + HOUR)]


@pytest.mark.parametrize(
    ("sequence", "places", "says"),
    [
        pytest.param(0, [0], "put in at 0", id="before the first"),
        pytest.param(3, [2], "it is missing", id="one entry too far"),
        pytest.param(100_000, [2], "it is missing, and so are those after it up to entry 99999", id="so far off that a fault a place would be many"),
    ],
)  # fmt: skip
def test_a_row_put_in_where_no_chain_leads_is_found(sequence, places, says):
    faults = verify(put_at(sequence), ends(a_chain(1)))
    assert [each.sequence for each in faults] == places
    assert says in faults[0].problem


@pytest.mark.parametrize(
    "replaced",
    [
        pytest.param(lambda body: body.replace(b'"amount":"0.001"', b'"amount":"1e30000000"'), id="a number that takes hours to be written"),
        pytest.param(lambda body: b"[" * 100_000, id="lists nested without end"),
    ],
)  # fmt: skip
def test_bytes_that_are_no_entry_though_they_give_the_hash_are_a_fault_and_stop_nobody(replaced):
    (row,) = stored(a_chain(1))
    body = replaced(row.body)
    assert body != row.body
    (fault,) = verify([forged(row, body=body, hash=chained(row.previous, body))])
    assert "it cannot be read" in fault.problem
