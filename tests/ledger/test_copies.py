"""A copy that is not whole is no copy, and a ledger is held against a whole one entry by entry, both ways."""

from __future__ import annotations

import json

import pytest

from billing.ledger import Head, sealed, verify
from billing.ledger.comparing import compare
from billing.ledger.copies import copy_lines, read_copy
from billing.ledger.entries import canonical
from fairclock.errors import InputError
from tests.ledger.factories import HOUR, START, a_chain, a_draft, stored

ROWS = stored([*a_chain(3), *a_chain(3, "globex")])
LINES = list(copy_lines(ROWS))


def without_end_of(tenant):
    ends = [each for each in json.loads(LINES[-1])["ends"] if each[0] != tenant]
    return canonical({"ends": ends})


def changed(**said):
    return canonical({**json.loads(LINES[0]), **said})


def with_ends(*ends):
    return canonical({"ends": [*json.loads(LINES[-1])["ends"], *ends]})


def test_a_whole_copy_is_read_as_it_was_written():
    rows, ends = read_copy(b"\n".join(LINES) + b"\n", where="x")
    assert rows == ROWS
    assert [each[:2] for each in ends] == [("acme", 3), ("globex", 3)]
    assert verify(rows, ends) == compare(ROWS, rows, ends, where="x") == []
    assert read_copy(b"\n".join(copy_lines([])), where="x") == ([], [])


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        pytest.param(LINES[:-1], "x, line 6: is cut off", id="without the line of the ends"),
        pytest.param(LINES[:-3], "x, line 4: is cut off", id="without its last entries and that line"),
        pytest.param([], "x: is cut off", id="empty"),
        pytest.param([b""], "x: is cut off", id="an empty line"),
        pytest.param([*LINES[:-1], LINES[-1][:40]], "x, line 7: is no line", id="cut off in the middle of its last line"),
        pytest.param([*LINES[:-1], without_end_of("globex")], "x, line 7: .*chain of globex", id="without the end of a tenant it has entries of"),
        pytest.param([*LINES, LINES[-1]], "x, line 8: comes after", id="with two lines of ends"),
        pytest.param([LINES[-1], *LINES[:-1]], "x, line 2: comes after", id="with the ends first"),
        pytest.param([LINES[0], *LINES], "x, line 2: is there already", id="with a line twice, whose amount would be summed twice"),
        pytest.param([LINES[1], LINES[0], *LINES[2:]], "x, line 2: belongs before", id="with two lines exchanged"),
        pytest.param([changed(paid="yes"), *LINES[1:]], "x, line 1: is no line", id="with something else in a line"),
        pytest.param([changed(sequence=True), *LINES[1:]], "x, line 1: is no line", id="with true for 1"),
        pytest.param([changed(sequence="1"), *LINES[1:]], "x, line 1: is no line", id="with a count as text"),
        pytest.param([changed(hash=["x"]), *LINES[1:]], "x, line 1: is no line", id="with a list for a hash"),
        pytest.param([changed(tenant="?").replace(b"?", rb"\ud800"), *LINES[1:]], "x, line 1: is no line", id="with half a surrogate pair"),
        pytest.param([changed(stored_at="2026-10-05T08:00:00"), *LINES[1:]], "x, line 1: is no line", id="with an instant without its zone"),
        pytest.param([b"[" * 100_000, *LINES], "x, line 1: is no line", id="with a line nested without end"),
        pytest.param([*LINES[:-1], with_ends(["acme", 1, "x"])], "x, line 7: is no line", id="with two ends of one chain"),
        pytest.param([*LINES[:-1], with_ends(["new", 1.5, "x"])], "x, line 7: is no line", id="with an end between two entries"),
    ],
)  # fmt: skip
def test_a_copy_is_refused_and_said_where(lines, says):
    with pytest.raises(InputError, match=says):
        read_copy(b"\n".join(lines), where="x")


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        pytest.param([*LINES[:2], *LINES[3:]], 3, id="its last entry deleted"),
        pytest.param([*LINES[:1], *LINES[2:]], 2, id="an entry in the middle deleted"),
        pytest.param(LINES[3:], 3, id="all of its entries deleted"),
    ],
)
def test_a_copy_with_its_ends_that_lacks_entries_is_at_fault_there(lines, first):
    faults = verify(*read_copy(b"\n".join(lines), where="x"))
    assert (faults[0].tenant, faults[0].sequence) == ("acme", first)
    assert {each.tenant for each in faults} == {"acme"}


@pytest.mark.parametrize(
    ("here", "copied", "found"),
    [
        pytest.param(ROWS[:3], ROWS, [("globex", 0, "nothing of this tenant")], id="a tenant that the ledger lacks"),
        pytest.param([*ROWS[:2], *ROWS[3:]], ROWS, [("acme", 3, "the ledger lacks it")], id="a last entry that the ledger lacks"),
        pytest.param([*ROWS[:1], *ROWS[2:]], ROWS, [("acme", 2, "the ledger lacks it")], id="an entry in the middle that the ledger lacks"),
        pytest.param(
            ROWS, [*ROWS[:1], *ROWS[2:]],
            [("acme", 2, "in x: it is missing"), ("acme", 3, "in x: "), ("acme", 2, "x lacks it")],
            id="an entry in the middle that the copy lacks",
        ),
        pytest.param(ROWS, ROWS, [], id="equal ones"),
        pytest.param([*ROWS[:3], *stored(a_chain(5, "globex")), *stored(a_chain(2, "new"))], ROWS, [], id="entries and a tenant that came later"),
    ],
)  # fmt: skip
def test_a_ledger_and_a_copy_differ_there(here, copied, found):
    ends = read_copy(b"\n".join(LINES), where="x")[1]
    faults = compare(here, copied, ends, where="x")
    assert [(each.tenant, each.sequence) for each in faults] == [
        (tenant, place) for tenant, place, _ in found
    ]
    assert all(says in each.problem for each, (_, _, says) in zip(faults, found, strict=True)), faults


def test_a_ledger_rewritten_with_its_hashes_lacks_every_entry_of_the_copy_from_there_on():
    first = a_chain(1)
    head = {"acme": Head(sequence=1, hash=first[0].hash())}
    others = sealed([a_draft(start=START + number * HOUR, price_version="p2") for number in (1, 2)], head)
    rows, ends = read_copy(b"\n".join(copy_lines(ROWS[:3])), where="x")
    assert verify(stored([*first, *others])) == []
    faults = compare(stored([*first, *others]), rows, ends, where="x")
    assert [(each.sequence, "the ledger lacks it" in each.problem) for each in faults] == [
        (2, True),
        (3, True),
    ]
