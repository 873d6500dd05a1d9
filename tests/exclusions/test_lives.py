"""What becomes of an exclusion: who may say what when, and how it stood at any instant."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.errors import UsageError
from fairclock.model.remedies import ExclusionState
from sla.exclusions import check_answer, check_proposal, exclusions_at
from tests.exclusions.factories import HOUR, START, a_proposal, an_answer, at, between, rules

TERM = between("2025-12-31T16:00+00:00", "2026-12-31T16:00+00:00")
SECOND = timedelta(seconds=1)
ENTERED = START - 96 * HOUR


def state_after(*said: tuple[str, object], at_: object = None, **proposal: object) -> str:
    first = a_proposal(**proposal)
    entries = [
        first,
        *(an_answer(first, state, when, sequence=2 + n) for n, (state, when) in enumerate(said)),
    ]
    last = at_ or max([ENTERED, *(when for _, when in said)])
    (found,) = exclusions_at(entries, last)
    return str(found.state)


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ([], "proposed"),
        (["accepted"], "accepted"),
        (["disputed"], "disputed"),
        (["revoked"], "revoked"),
        (["accepted", "disputed"], "disputed"),
        (["disputed", "accepted"], "accepted"),
        (["accepted", "revoked"], "revoked"),
        (["revoked", "accepted"], "revoked"),
        (["revoked", "disputed"], "revoked"),
        (["proposed"], "proposed"),
    ],
)
def test_what_is_said_in_turn(said, state):
    assert state_after(*((each, ENTERED + (n + 1) * SECOND) for n, each in enumerate(said))) == state


def test_a_proposal_expires_at_the_instant_it_names_and_cannot_be_accepted_from_then_on():
    answer_by = ENTERED + HOUR
    before = answer_by - timedelta(microseconds=1)
    assert state_after(at_=before, answer_by=answer_by) == "proposed"
    assert state_after(at_=answer_by, answer_by=answer_by) == "expired"
    assert state_after(("accepted", before), at_=answer_by, answer_by=answer_by) == "accepted"
    assert state_after(("accepted", answer_by), answer_by=answer_by) == "expired"


def test_what_was_said_later_was_not_known_before():
    first = a_proposal()
    entries = [
        first,
        an_answer(first, "accepted", START),
        an_answer(first, "revoked", START + HOUR, sequence=3),
    ]
    states = [exclusions_at(entries, START + offset) for offset in (-100 * HOUR, -HOUR, 0 * HOUR, HOUR)]
    assert [[str(each.state) for each in found] for found in states] == [
        [],
        ["proposed"],
        ["accepted"],
        ["revoked"],
    ]


def test_an_acceptance_and_a_dispute_of_one_instant_are_a_dispute():
    first = a_proposal()
    answers = [an_answer(first, state, START) for state in ("disputed", "accepted")]
    assert exclusions_at([first, *answers], START)[0].state == "disputed"
    assert exclusions_at([first, *reversed(answers)], START)[0].state == "disputed"


@given(
    said=st.lists(st.sampled_from(["accepted", "disputed", "revoked"]), max_size=6),
    copies=st.permutations(range(7)),
)
def test_the_order_of_rows_and_rows_written_twice_change_nothing(said, copies):
    first = a_proposal()
    entries = [
        first,
        *(an_answer(first, each, ENTERED + (n + 1) * HOUR, sequence=n + 2) for n, each in enumerate(said)),
    ]
    shuffled = [entries[n] for n in copies if n < len(entries)]
    now = START + 100 * HOUR
    assert exclusions_at(shuffled + entries, now) == exclusions_at(entries, now)


@pytest.mark.parametrize(
    ("changes", "where", "problem"),
    [
        ({"clause": "weather"}, "--clause", "excludes no such thing"),
        ({"clause": "cold_start"}, "--clause", "noticed from the engines"),
        ({"reason": " "}, "--reason", "is empty"),
        ({"author": ""}, "--author", "is empty"),
        ({"ends_at": START}, "--to", "the time is empty"),
        ({"starts_at": TERM.end, "ends_at": TERM.end + HOUR}, "--from", "outside the contract's term"),
        ({"starts_at": TERM.start - HOUR, "ends_at": TERM.start}, "--from", "outside the contract's term"),
        ({"notice_at": START}, "--notice-at", "lies in the future"),
        ({"notice_at": None}, "--notice-to", "needs --notice-at"),
        ({"answer_by": ENTERED}, "--answer-by", "has passed"),
        ({"recurrence": "FREQ=DAILY", "ends_at": None}, "--recurrence", "needs --to"),
        ({"recurrence": "FREQ=DAILY", "time_zone": "Moon/Crater"}, "--zone", "no such zone"),
        ({"recurrence": "FREQ=SECONDLY"}, "--recurrence", "no frequency"),
        ({"clause": "client_network"}, "--evidence", "needs evidence"),
    ],
)
def test_what_the_contract_has_no_room_for(changes, where, problem):
    from sla.exclusions import ClauseRule

    network = {"client_network": ClauseRule(name="client_network", needs_evidence=True)}
    with pytest.raises(UsageError, match=problem) as refused:
        check_proposal(a_proposal(**changes), rules() | network, term=TERM, now=ENTERED)
    assert refused.value.where == where


@pytest.mark.parametrize(
    ("changes", "now", "doubts"),
    [
        ({}, ENTERED, []),
        ({"notice_at": START - 72 * HOUR}, START - 71 * HOUR, []),
        ({"notice_at": START - 72 * HOUR + timedelta(microseconds=1)}, START - 71 * HOUR, ["late"]),
        ({"notice_at": None, "notice_to": ()}, ENTERED, ["late"]),
        ({"notice_to": ("other@acme.example",)}, ENTERED, ["late"]),
        ({"notice_to": ("SLA@acme.example", "x@acme.example")}, ENTERED, []),
        ({}, START + SECOND, ["retroactive"]),
        (
            {"clause": "force_majeure", "ends_at": None, "notice_at": None, "notice_to": ()},
            START,
            ["open_ended"],
        ),
    ],
    ids=[
        "in time",
        "exactly in time",
        "a microsecond late",
        "nobody was told",
        "the wrong address was told",
        "addresses in any case, and more of them",
        "entered after it began",
        "without an end; nobody need be told",
    ],
)
def test_what_is_entered_and_marked(changes, now, doubts):
    found = check_proposal(a_proposal(**changes), rules(), term=TERM, now=now)
    assert [str(each.kind) for each in found] == doubts


@pytest.mark.parametrize(
    ("state", "changes", "problem"),
    [
        ("accepted", {"author": "ops "}, "cannot answer it"),
        ("disputed", {"author": "OPS"}, "cannot answer it"),
        ("accepted", {"evidence": " "}, "needs evidence"),
        ("revoked", {"author": ""}, "is empty"),
    ],
    ids=[
        "the proposer accepts",
        "the proposer disputes",
        "an acceptance that nothing shows",
        "nobody revokes",
    ],
)
def test_who_may_answer(state, changes, problem):
    (found,) = exclusions_at([a_proposal()], ENTERED)
    with pytest.raises(UsageError, match=problem):
        check_answer(
            found, ExclusionState(state), **{"author": "Zhang", "evidence": "mail", "now": ENTERED} | changes
        )


@pytest.mark.parametrize("state", ["accepted", "disputed", "revoked"])
def test_an_expired_proposal_takes_no_answer(state):
    (found,) = exclusions_at([a_proposal()], ENTERED)
    with pytest.raises(UsageError, match="it is expired"):
        check_answer(
            found, ExclusionState(state), author="Zhang", evidence="mail", now=found.proposal.answer_by
        )


def test_the_proposer_may_revoke_and_an_open_end_may_be_accepted_again():
    first = a_proposal(ends_at=None)
    (found,) = exclusions_at([first, an_answer(first, "accepted", START)], START)
    check_answer(found, ExclusionState.ACCEPTED, author="Zhang", evidence="mail", now=START + HOUR)
    check_answer(found, ExclusionState.REVOKED, author="Ops", evidence="", now=START + HOUR)
    (closed,) = exclusions_at([a_proposal(), an_answer(a_proposal(), "accepted", START)], START)
    with pytest.raises(UsageError, match="cannot be accepted"):
        check_answer(closed, ExclusionState.ACCEPTED, author="Zhang", evidence="mail", now=at("10-12 00:00"))
