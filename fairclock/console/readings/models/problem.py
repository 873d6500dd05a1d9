"""Own how the API says that something is wrong (RFC 9457), and who is asking."""

# pydantic reads what annotations name when the program runs

from __future__ import annotations

from fairclock.console.readings.models.base import Count, Shown


class Problem(Shown):
    """A problem: `type` is a URI that names it, `detail` a sentence that says what to do."""

    type: str
    title: str
    status: Count
    detail: str
    where: str | None = None


class Self(Shown):
    """Who is asking, and what that lets them see."""

    name: str
    scope: str
    tenant: str | None
    sees_machines: bool
    may_propose: bool
    may_audit: bool


class Session(Shown):
    """What is needed to change something from a browser: send it as ``X-Form-Token``."""

    form_token: str
