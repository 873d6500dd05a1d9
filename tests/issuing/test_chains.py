"""The chain of a contract: gapless whatever rivals wrote, in whatever order their rows are read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.ledger.entries import NO_HASH
from sla.issuing.chains import chain_of, chains_of, number_of

START = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Row:
    contract: str
    sequence: int
    previous: str
    sha256: str
    stored_at: datetime


@dataclass
class Issuers:
    """Several who issue; each reads when it likes, and writes what it then holds to be next."""

    rows: list[Row] = field(default_factory=list)
    read: dict[int, tuple[int, str]] = field(default_factory=dict)

    def look(self, who: int) -> None:
        chain = chain_of(self.rows, "acme")
        self.read[who] = chain.next_sequence, chain.head

    def write(self, who: int) -> None:
        sequence, head = self.read.get(who, (1, NO_HASH))
        name = hashlib.sha256(f"{who} {len(self.rows)}".encode()).hexdigest()
        at = START + timedelta(seconds=len(self.rows))
        self.rows.append(Row(contract="acme", sequence=sequence, previous=head, sha256=name, stored_at=at))


steps = st.lists(st.tuples(st.sampled_from(["look", "write"]), st.integers(0, 3)), max_size=40)


@given(steps=steps, order=st.randoms(use_true_random=False))
def test_numbers_have_no_gap_and_each_is_given_once_whoever_reads_and_writes_when(steps, order):
    issuers, held = Issuers(), []
    for what, who in steps:
        getattr(issuers, what)(who)
        now = list(chain_of(issuers.rows, "acme").rows)
        # what was given once stays given, whatever comes after it
        assert now[: len(held)] == held
        held = now
    shuffled = [*issuers.rows, *issuers.rows[:3]]
    order.shuffle(shuffled)
    found = chain_of(shuffled, "acme").rows
    assert list(found) == held
    assert [row.sequence for row in found] == list(range(1, len(found) + 1))
    assert [row.previous for row in found] == [NO_HASH, *(row.sha256 for row in found[:-1])][: len(found)]


@given(steps=steps)
def test_whoever_reads_last_and_writes_first_is_the_next_in_the_chain(steps):
    issuers = Issuers()
    for what, who in steps:
        getattr(issuers, what)(who)
    before = len(chain_of(issuers.rows, "acme").rows)
    issuers.look(9)
    issuers.write(9)
    chain = chain_of(issuers.rows, "acme").rows
    assert (len(chain), chain[-1]) == (before + 1, issuers.rows[-1])


def test_contracts_have_chains_of_their_own():
    issuers = Issuers()
    issuers.write(0)
    other = Row(contract="bank", sequence=1, previous=NO_HASH, sha256="b" * 64, stored_at=START)
    assert {name: len(chain.rows) for name, chain in chains_of([*issuers.rows, other]).items()} == {
        "acme": 1,
        "bank": 1,
    }
    assert chain_of([other], "acme").rows == ()


@pytest.mark.parametrize(
    ("sequence", "number"), [(1, "acme-2026-R000001"), (999_999, "acme-2026-R999999"), (1_000_000, "acme-2026-R1000000")]
)  # fmt: skip
def test_a_number_names_the_contract_and_the_place(sequence, number):
    assert number_of("acme-2026", sequence) == number
