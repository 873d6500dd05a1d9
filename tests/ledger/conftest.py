"""A real store, one a module."""

import pytest

from fairclock.store import open_store


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('store')}") as opened:
        yield opened
