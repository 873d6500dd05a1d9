"""Own what is scraped: one address, how often, and with what."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from collectors.vllm_metrics.scraping.urls import place_of, with_default_path

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What lets a scrape in; `headers` are (name, value) pairs and never shown."""

    token_file: Path | None = None
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One address that answers with metrics; `name` tells it from all others and is kept with its samples.

    `labels` are what a file said about it; they are kept with its samples too.
    """

    name: str
    url: str
    interval_seconds: float
    timeout_seconds: float
    access: Access = Access()
    labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What targets have that say nothing else."""

    interval_seconds: float
    timeout_seconds: float
    access: Access = Access()

    def target(
        self,
        url: str,
        *,
        name: str = "",
        interval_seconds: float | None = None,
        timeout_seconds: float | None = None,
        access: Access | None = None,
        labels: Mapping[str, str] = MappingProxyType({}),
    ) -> Target:
        """Return a target; it never has longer to answer than until it is asked again."""
        address = with_default_path(url)
        interval = interval_seconds or self.interval_seconds
        return Target(
            name=name or place_of(address),
            url=address,
            interval_seconds=interval,
            timeout_seconds=min(timeout_seconds or self.timeout_seconds, interval),
            access=access or self.access,
            labels=labels,
        )
