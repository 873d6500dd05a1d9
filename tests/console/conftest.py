"""One store with two tenants for all of these tests in a process, and the console over it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from fairclock.store import open_store
from tests.console.looking import Looking
from tests.console.scene import a_scene

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.console.scene import Scene


@pytest.fixture(scope="package")
def two_tenants(tmp_path_factory: pytest.TempPathFactory) -> Generator[Scene]:
    """One engine for these modules, closed before those of other folders: a process can open only one folder.

    What a module adds is there for the next one: none of them counts what others may have added.
    """
    with open_store(f"chdb://{tmp_path_factory.mktemp('console') / 'store'}") as store:
        yield a_scene(store, datetime.now(UTC))


@pytest.fixture(scope="module")
def looking(two_tenants: Scene) -> Generator[Looking]:
    """The console over the two tenants, and who may look at it."""
    with Looking.over(two_tenants) as found:
        yield found
