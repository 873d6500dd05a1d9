"""The console's application over readings made by hand: the real gate, guard, routes and headers."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import uvicorn

from fairclock.console.access.failures import Failures
from fairclock.console.access.gate import Gate
from fairclock.console.access.sessions import Forms, Sessions
from fairclock.console.pages import problem_page, routes
from fairclock.console.server import Console, console_app
from fairclock.errors import NotEvaluable, NotShown, StoreUnreachable, TooBusy, UsageError
from fairclock.store.tokens import Scope, Token
from tests.console import pages_factories as made

if TYPE_CHECKING:
    from collections.abc import Iterator


def _token(name: str, scope: Scope, tenant: str = "") -> Token:
    return Token(
        id=name, name=name, scope=scope, tenant=tenant, sha256="", created_at=datetime(2026, 1, 1, tzinfo=UTC)
    )


TOKENS = {
    "admin-token": _token("admin", Scope.ADMIN),
    "tenant-token": _token("云帆", Scope.TENANT, "云帆金融"),
    "collector-token": _token("sidecar", Scope.COLLECTOR),
}
RAISED = {
    "away": StoreUnreachable("store", "does not answer", remedy="start it"),
    "busy": TooBusy("tenant", "takes too long", remedy="ask for less"),
    "early": NotEvaluable("tenant", "has no data yet", remedy="wait"),
    "nobody": NotShown("tenant", "is not shown"),
}


class HandMade:
    """Readings by hand; `empty` chooses those with nothing in them. `proposals` keeps what was proposed."""

    def __init__(self) -> None:
        self.empty = False
        self.proposals: list[Any] = []
        self.callers: list[Any] = []

    async def overview(self, caller: Any) -> Any:
        self.callers.append(caller)
        return made.no_contracts() if self.empty else made.overview()

    async def tenant(self, caller: Any, tenant: str, wanted: Any, *, contract: str | None = None) -> Any:
        if tenant in RAISED:
            raise RAISED[tenant]
        if self.empty:
            return made.empty_tenant()
        return made.tenant(tenant)

    async def requests(self, caller: Any, wanted: Any, searched: Any) -> Any:
        return made.no_requests(searched.name) if self.empty else made.request_list(name=searched.name)

    async def request(self, caller: Any, key: str) -> Any:
        return made.unmeasured_request() if self.empty else made.request()

    async def incidents(self, caller: Any, wanted: Any, *, contract: str | None = None) -> Any:
        return made.no_incidents() if self.empty else made.incidents()

    async def cost(self, caller: Any, wanted: Any) -> Any:
        return made.no_cost() if self.empty else made.cost()

    async def probes(self, caller: Any, wanted: Any) -> Any:
        return made.no_probes() if self.empty else made.probes()

    async def sources(self, caller: Any, wanted: Any) -> Any:
        return made.no_sources() if self.empty else made.sources()

    async def reports(self, caller: Any) -> Any:
        return made.no_reports() if self.empty else made.reports()

    async def exclusions(self, caller: Any) -> Any:
        return made.no_exclusions() if self.empty else made.exclusions()

    async def propose(self, caller: Any, proposal: Any, *, address: str) -> Any:
        if proposal.reason == "refuse me":
            raise UsageError("--clause", "the contract excludes no such thing", remedy="choose another")
        self.proposals.append(proposal)
        return made.proposed()

    async def changes(self, caller: Any, *, most: int = 100) -> Any:
        return made.no_changes() if self.empty else made.changes()


def console(readings: Any, *, is_loopback: bool = True) -> Console:
    return Console(
        readings=readings,
        gate=Gate(
            find=TOKENS.get,
            sessions=Sessions(monotonic=time.monotonic),
            forms=Forms(),
            failures=Failures(monotonic=lambda: 0.0),  # no minute passes between tries
            is_loopback=is_loopback,
        ),
        note=lambda entry: entry,
    )


def application(readings: Any, *, is_loopback: bool = True) -> Any:
    made_console = console(readings, is_loopback=is_loopback)
    return console_app(made_console, routes(made_console), problem_page=problem_page)


@contextmanager
def served(readings: Any) -> Iterator[str]:
    """Serve the application on loopback; yield its address."""
    config = uvicorn.Config(
        application(readings), host="127.0.0.1", port=0, log_level="error", lifespan="off"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 120
    while not server.started:
        assert thread.is_alive(), "the server ended before it began"
        assert time.monotonic() < deadline, "the server did not start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)
