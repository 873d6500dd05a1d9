"""One store with two tenants for a module, and the console over it."""

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


@pytest.fixture(scope="module")
def two_tenants(tmp_path_factory: pytest.TempPathFactory) -> Generator[Scene]:
    """One engine for a module: a process can open only one folder."""
    with open_store(f"chdb://{tmp_path_factory.mktemp('console') / 'store'}") as store:
        yield a_scene(store, datetime.now(UTC))


@pytest.fixture(scope="module")
def looking(two_tenants: Scene) -> Generator[Looking]:
    """The console over the two tenants, and who may look at it."""
    with Looking.over(two_tenants) as found:
        yield found
