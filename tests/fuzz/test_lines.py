"""Mutated log lines, followed and imported: no crash, no hang, no neighbour is lost, and both ways read the same."""

import pytest

from tests.fuzz.lines import fuzz_lines
from tests.fuzz.mutation import LINES


def test_mutated_lines_cost_no_neighbour(store, tmp_path):
    fuzz_lines(store, tmp_path, 10_000)


@pytest.mark.soak
def test_a_million_mutated_lines_cost_no_neighbour(store, tmp_path):
    fuzz_lines(store, tmp_path, LINES)
