"""Own the nine ways in which an admitted request can end."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """How a request ended; exactly one per admitted request, in report order."""

    OK = "ok"
    INCOMPLETE = "incomplete"
    SUBSTITUTED = "substituted"
    CLIENT_ERROR = "client_error"
    QUOTA_REJECTED = "quota_rejected"
    CAPACITY_REJECTED = "capacity_rejected"
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"
    CLIENT_ABORTED = "client_aborted"
