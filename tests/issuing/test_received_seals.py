"""A seal that a customer received, held against the store: what is found of it, and of whatever is none."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest

from fairclock.store.issued_reports import day_seal_content
from tests.issuing.conftest import begin_anew, signed_contract
from tests.issuing.test_day_seals import TERM, look, seals, verify


@pytest.fixture(scope="module")
def sealed(module_store, tmp_path_factory, provider, customer):
    """Days that were sealed, which no test here changes: the contract's file, and the bytes of the first day's seal."""
    begin_anew(module_store)
    contract = signed_contract(tmp_path_factory.mktemp("contract"), provider, customer, term=TERM)
    look(module_store, contract)
    row, _ = seals(module_store)[0]
    return contract, day_seal_content(module_store.store, "acme-2026", row.sha256)


@pytest.fixture
def fairclock(module_store):
    return module_store


@pytest.fixture
def contract(sealed):
    return sealed[0]


@pytest.fixture
def received(sealed, tmp_path):
    path = tmp_path / "received.json"
    path.write_bytes(sealed[1])
    return path


def test_a_seal_that_was_received_is_found_in_the_store_with_its_requests(fairclock, contract, received):
    said = verify(fairclock, received, contract)
    assert "it is number 1 of the chain of acme-2026 in the store" in said
    assert "the store has the 10 requests that were sealed, as they were" in said


def with_a_list_for_an_hour(tree):
    hours = [{**tree["hours"][0], "hour": ["2026-10-14T00:00:00Z"]}, *tree["hours"][1:]]
    text = "".join(f"{each['hour']}\t{each['rows']}\t{each['rows_sha256']}\n" for each in hours)
    return tree | {"hours": hours, "hours_sha256": sha256(text.encode()).hexdigest()}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        (lambda tree: tree | {"rows": 9}, "is no seal of a day"),
        (lambda tree: tree | {"hours_sha256": "0" * 64}, "its hash is not that of its hours"),
        (
            lambda tree: tree | {"day": "2026-10-15"},
            "the store holds no such seal of acme-2026 on 2026-10-15",
        ),
        (lambda tree: tree | {"hours": []}, "is no seal of a day"),
        (lambda tree: tree | {"as_of": "2999-01-01T00:00:00Z"}, "at an instant that is yet to come"),
        (lambda tree: tree | {"from": None}, "it does not say of which time it is"),
        (lambda tree: tree | {"as_of": "2026-10-20T00:00:00"}, "it does not say of which time it is"),
        (lambda tree: tree | {"to": "0001-01-01T00:00:00+23:59"}, "it does not say of which time it is"),
        (lambda tree: tree | {"sequence": float("inf")}, "is no seal of a day"),
        (with_a_list_for_an_hour, "is no seal of a day"),
    ],
    ids=[
        "other rows",
        "another hash",
        "another day",
        "no hours",
        "another instant",
        "no time",
        "an instant without a zone",
        "an instant before all time",
        "a number without end",
        "a list for an hour",
    ],
)
def test_a_seal_that_was_altered_is_found(fairclock, contract, received, changed, problem):
    received.write_text(json.dumps(changed(json.loads(received.read_text()))))
    assert any(problem in each for each in verify(fairclock, received, contract, code=1))


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b'{"schema": "fairclock.day-seal/1"}', b'{"schema": "fairclock.day-seal/1", "hours": 1}'],
)
def test_what_is_no_seal_is_a_finding(fairclock, contract, tmp_path, content):
    path = tmp_path / "no.json"
    path.write_bytes(content)
    assert verify(fairclock, path, contract, code=1)
