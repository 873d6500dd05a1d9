"""Own that the files that are begun with are there."""

from pathlib import Path

from tests.conftest import LONGEST_FIRST

TESTS = Path(__file__).parents[1]


def test_every_file_to_begin_with_is_there():
    assert [name for name in LONGEST_FIRST if not (TESTS / name).is_file()] == []
