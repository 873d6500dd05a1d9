"""Own how the console of ``up`` is put together, from the store, the contracts and the price book of the same process."""

from __future__ import annotations

import time
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fairclock import __version__
from fairclock.cli.pipeline.endpoint import is_loopback
from fairclock.console.access.failures import Failures
from fairclock.console.access.gate import Gate
from fairclock.console.access.sessions import Forms, Sessions
from fairclock.console.api.routes import api_routes
from fairclock.console.pages import problem_page, routes
from fairclock.console.readings.answering import AnsweredReadings, Given
from fairclock.console.server import Console, console_app
from fairclock.store.audit import keep_audit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.applications import Starlette

    from fairclock.cli.configuration import Configuration
    from fairclock.cli.pipeline.looked import Looked
    from fairclock.store import Store
    from fairclock.store.tokens import Keyring


@contextmanager
def console(
    settings: Configuration, store: Callable[[], Store], keyring: Keyring, looked: Looked, *, address: str
) -> Iterator[Starlette]:
    """Yield the console's application until the end of ``with``; `address` is where it will be answered."""
    readings = AnsweredReadings(
        Given(
            store=store,
            contracts=looked.contracts,
            prices=looked.prices,
            cost_book=settings.billing.cost_book(),
            now=lambda: datetime.now(UTC),
            software_version=__version__,
        ),
        limit_seconds=settings.console.limit,
    )
    gate = Gate(
        find=keyring.find,
        sessions=Sessions(monotonic=time.monotonic),
        forms=Forms(),
        failures=Failures(monotonic=time.monotonic),
        is_loopback=settings.console.trust_loopback and is_loopback(address),
    )
    made = Console(
        readings=readings,
        gate=gate,
        note=lambda entry: keep_audit(store(), entry),
        is_secure=settings.http.certificate is not None,
    )
    try:
        yield console_app(made, [*api_routes(made), *routes(made)], problem_page=problem_page)
    finally:
        readings.close()
