"""The console in this process, as an administrator, an operator, a tenant and a stranger see it."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from starlette.testclient import TestClient

from billing.cost_book.configuration import GpuTimeSection
from fairclock.console.access.callers import Caller
from fairclock.console.access.failures import Failures
from fairclock.console.access.gate import Gate
from fairclock.console.access.sessions import Forms, Sessions
from fairclock.console.api.routes import api_routes
from fairclock.console.readings.answering import AnsweredReadings, Given
from fairclock.console.readings.kept_reports import KeptReports
from fairclock.console.readings.view import Memory, View
from fairclock.console.server import Console, console_app
from fairclock.store.audit import keep_audit
from fairclock.store.tokens import Keyring, Scope, keep_token, list_tokens, mint
from tests.console.scene import BOOK, MINE, OTHER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.applications import Starlette

    from tests.console.scene import Scene

ADMIN = Caller(name="root", scope=Scope.ADMIN)
TENANT = Caller(name="mine", scope=Scope.TENANT, tenant=MINE)


@dataclass(frozen=True, kw_only=True)
class Looking:
    """The application, and the tokens that open it."""

    scene: Scene
    app: Starlette
    console: Console
    tokens: dict[str, str]

    @classmethod
    @contextmanager
    def over(cls, scene: Scene, *, is_loopback: bool = False) -> Iterator[Looking]:
        """Put the console over a scene; nobody is let in without a token unless `is_loopback`."""
        tokens = {}
        for name, scope, tenant in (
            ("admin", Scope.ADMIN, ""), ("operator", Scope.OPERATOR, ""), ("collector", Scope.COLLECTOR, ""),
            ("mine", Scope.TENANT, MINE), ("other", Scope.TENANT, OTHER), ("stranger", Scope.TENANT, "nobody"),
        ):  # fmt: skip
            text, token = mint(name=name, scope=scope, tenant=tenant, now=datetime.now(UTC))
            keep_token(scene.store, token)
            tokens[name] = text
        # on a busy machine anything may take longer than a person waits
        readings = AnsweredReadings(given(scene), limit_seconds=600, document_seconds=600)
        keyring = Keyring(lambda: list_tokens(scene.store), monotonic=time.monotonic)
        gate = Gate(
            find=keyring.find,
            sessions=Sessions(monotonic=time.monotonic),
            forms=Forms(),
            failures=Failures(monotonic=time.monotonic),
            is_loopback=is_loopback,
        )
        console = Console(readings=readings, gate=gate, note=lambda entry: keep_audit(scene.store, entry))
        try:
            yield cls(scene=scene, app=made(console), console=console, tokens=tokens)
        finally:
            readings.close()

    def client(self, who: str | None = "admin", **others: Any) -> TestClient:
        """Return a client with that token; None for nobody."""
        headers = {} if who is None else {"Authorization": f"Bearer {self.tokens[who]}"}
        return TestClient(self.app, headers=headers, follow_redirects=False, **others)

    def get(self, path: str, who: str | None = "admin", **query: Any) -> Any:
        """Return what an endpoint answers, as JSON."""
        answer = self.client(who).get(f"/api/v1{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()


def made(console: Console) -> Starlette:
    """Return the application with the API and the pages."""
    from fairclock.console import pages

    if not hasattr(pages, "routes"):
        return console_app(console, api_routes(console))
    return console_app(
        console, [*api_routes(console), *pages.routes(console)], problem_page=pages.problem_page
    )


def given(scene: Scene, **changes: Any) -> Given:
    """Return what readings are made of."""
    said: dict[str, Any] = {
        "store": lambda: scene.store,
        "contracts": lambda: scene.contracts,
        "prices": lambda: BOOK.book,
        "cost_book": GpuTimeSection().settings(),
        "now": lambda: datetime.now(UTC),
        "software_version": "0.0.0",
    }
    return Given(**(said | changes))


def a_view(scene: Scene, caller: Caller = ADMIN, **changes: Any) -> View:
    """Return one question over a scene."""
    said: dict[str, Any] = {
        "store": scene.store,
        "caller": caller,
        "as_of": scene.store.watermark(),
        "now": datetime.now(UTC),
        "contracts": scene.contracts,
        "prices": BOOK.book,
        "cost_book": GpuTimeSection().settings(),
        "memory": Memory(reports=KeptReports(software_version="0.0.0")),
    }
    return View(**(said | changes))
