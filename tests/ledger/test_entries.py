"""An entry balances, its bytes are canonical, and nothing else is read as one."""

import hashlib
import json
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.ledger import EntryKind, UnreadableEntryError, read_entry
from billing.ledger.entries import NO_HASH
from tests.ledger.factories import START, ByTokens, a_chain, a_draft, a_usage


@given(st.integers(0, 10**9), st.integers(0, 10**12), st.integers(0, 10**18))
def test_postings_sum_to_nothing(requests, tokens, picoseconds):
    usage = a_usage(requests=requests, completion_tokens=tokens, gpu_picoseconds=picoseconds)
    draft = a_draft(items=(replace(a_draft().items[0], usage=usage, charges=ByTokens().rate(usage).charges),))
    assert sum(each.amount for each in draft.postings) == 0
    assert draft.postings[0].amount == draft.amount


def test_an_entry_is_read_back_as_it_was():
    for entry in a_chain(3):
        assert read_entry(entry.body(), entry.previous) == entry


def test_the_hash_can_be_computed_without_this_program():
    first, second = a_chain(2)
    by_hand = hashlib.sha256(b"fairclock.ledger/1\n" + NO_HASH.encode() + b"\n" + first.body()).hexdigest()
    assert second.previous == by_hand
    tree = json.loads(first.body())
    assert (
        json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() == first.body()
    )


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        pytest.param(
            b'"amount":"0.001"',
            b'"amount":"0.002"',
            "canonical",
            id="an amount that the postings do not have",
        ),
        pytest.param(b'["receivable","', b'["receivable","9', "canonical", id="postings that do not balance"),
        pytest.param(b'"requests":10', b'"requests":10.0', "not exact", id="a float"),
        pytest.param(b'"currency":"USD",', b'"currency": "USD",', "canonical", id="another spacing"),
        pytest.param(b"ledger/1", b"ledger/2", "schema", id="another schema"),
        pytest.param(
            b'"unit_price":"0.0001"',
            b'"unit_price":"1e-4"',
            "cannot be read",
            id="another way to write a price",
        ),
        pytest.param(b'"kind":"usage"', b'"kind":"present"', "cannot be read", id="a kind that there is not"),
    ],
)
def test_bytes_that_are_no_entry(before, after, says):
    (entry,) = a_chain(1)
    body = entry.body()
    assert before in body
    with pytest.raises(UnreadableEntryError, match=says):
        read_entry(body.replace(before, after), entry.previous)


def test_what_is_said_does_not_hang_on_the_month_it_is_booked_in():
    draft = a_draft()
    assert (
        replace(draft, period="2026-11", kind=EntryKind.REVERSAL).content_sha256() == draft.content_sha256()
    )
    assert replace(draft, end=START + timedelta(minutes=30)).content_sha256() != draft.content_sha256()
