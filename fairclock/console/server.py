"""Own the console as one application: who may ask, the pages, the API, what every answer carries.

Pages are given in by `fairclock.console.pages.routes(console)`. Whatever they are asked has passed the gate:
``request.state.caller`` is the `Caller` (None on `OPEN_PATHS`, where anybody may ask), and a browser without one was
sent to ``/sign-in?next=…``. Headers, the content security policy and ``Cache-Control`` are put on afterwards. A route
that changes something checks ``console.gate.may_change(request, given)`` before anything else, where `given` is the
form's field ``form_token`` (`FORM_FIELD`); ``console.gate.form_token(request)`` is what to render into the form.
`FairclockError`s that a page raises become an error page through `fairclock.console.pages.problem_page`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairclock.console.access.gate import Gate
    from fairclock.console.readings.protocol import Readings
    from fairclock.store.audit import AuditEntry

OPEN_PATHS = ("/sign-in", "/static/", "/favicon.ico")
"""What may be asked without being known; `request.state.caller` may be None there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """What pages and the API work with; `note` keeps an entry of the audit log."""

    readings: Readings
    gate: Gate
    note: Callable[[AuditEntry], object]
    is_secure: bool = False
    """whether cookies may only travel by HTTPS"""
