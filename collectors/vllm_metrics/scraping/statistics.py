"""Own what the scraper says about itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetStatistics:
    """How one target has been doing.

    scrapes, failures: answers that were kept, and tries that came to nothing.
    problem: why the last try came to nothing; empty where it did not, or where there was none yet.
    seconds, size_bytes: of the last answer.
    kept_at_us: when the last answer that was kept was asked for, µs since 1970; None where there is none.
    """

    name: str
    url: str
    scrapes: int = 0
    failures: int = 0
    problem: str = ""
    seconds: float = 0.0
    size_bytes: int = 0
    kept_at_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScraperStatistics:
    """All targets as they are now, and what keeps targets from being found, by file or name."""

    targets: tuple[TargetStatistics, ...]
    problems: tuple[tuple[str, str], ...] = ()
    paused: str = ""
