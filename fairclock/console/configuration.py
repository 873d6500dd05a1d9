"""Own the section ``console`` of the configuration."""

from __future__ import annotations

from pydantic import Field

from fairclock.config import Listening, Seconds, Section


class ConsoleSection(Section):
    """The pages that people look at, and the API behind them; served by ``fairclock up``."""

    enabled: bool = True
    """Whether there is a console."""

    address: Listening | None = Field(default=None, examples=["127.0.0.1:8781"])
    """Where it answers; the address of http unless one is given. On a loopback address no token is asked for."""

    trust_loopback: bool = True
    """Whether whoever asks from this machine, at a loopback address, is an administrator without a token."""

    limit: Seconds = 15.0
    """How long one answer may take before whoever asked is told to ask for less."""
