"""Mutated OTLP bodies over HTTP/protobuf, HTTP/JSON and gRPC: no crash, no hang, and no neighbour is lost."""

import pytest

from tests.fuzz.bodies import WAYS, fuzz_bodies
from tests.fuzz.mutation import BODIES


def assert_all_was_answered(answers, count):
    assert set(answers) == set(WAYS)
    assert all(each["taken"] and each["refused"] for each in answers.values())
    assert sum(each.total() for each in answers.values()) >= count


def test_mutated_bodies_cost_no_neighbour(store):
    assert_all_was_answered(fuzz_bodies(store, 1_500), 1_500)


@pytest.mark.soak
def test_a_hundred_thousand_mutated_bodies_cost_no_neighbour(store):
    assert_all_was_answered(fuzz_bodies(store, BODIES), BODIES)
