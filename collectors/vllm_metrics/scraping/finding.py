"""Own which targets there are right now: those of the configuration, of files and of the DNS, each name once."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from collectors.vllm_metrics.scraping.dns_discovery import DnsTargets, SystemResolver
from collectors.vllm_metrics.scraping.fetching import read_token, trust
from collectors.vllm_metrics.scraping.file_discovery import FileTargets
from collectors.vllm_metrics.scraping.targets import Access, Defaults
from fairclock.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from collectors.vllm_metrics.configuration import AccessSection, VllmSection
    from collectors.vllm_metrics.scraping.dns_discovery import Resolver
    from collectors.vllm_metrics.scraping.targets import Target

_LOG = logging.getLogger(__name__)
_LOOK_UP_EVERY_SECONDS = 30.0


class TargetFinder:
    """Find the targets of a section; raises `ConfigurationError` where two have one name or one cannot be let in.

    A target that is found twice, by file and name say, is scraped once: the configuration goes before files, files
    go before the DNS.
    """

    def __init__(
        self,
        section: VllmSection,
        *,
        resolver: Resolver | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Read no file and look up no name yet."""
        defaults = Defaults(
            interval_seconds=section.interval, timeout_seconds=section.timeout, access=_access(section.access)
        )
        self._fixed = [
            defaults.target(
                each.url,
                name=each.name,
                interval_seconds=each.interval,
                timeout_seconds=each.timeout,
                access=_access(each)
                if each.model_fields_set & type(section.access).model_fields.keys()
                else None,
            )
            for each in section.targets
        ]
        _check(self._fixed)
        self._files = FileTargets([str(path) for path in section.files], defaults)
        self._dns = DnsTargets(section.dns, defaults, resolver or SystemResolver())
        self._monotonic = monotonic
        self._looked_up_at: float | None = None
        self._looked_up: list[Target] = []
        self._doubtful: dict[str, str] = {}

    async def find(self) -> list[Target]:
        """Return the targets as they are now; the DNS is asked every 30 s."""
        in_files = await asyncio.to_thread(self._files.read)
        now = self._monotonic()
        if self._looked_up_at is None or now - self._looked_up_at >= _LOOK_UP_EVERY_SECONDS:
            self._looked_up = await self._dns.look_up()
            self._looked_up_at = now
        return self._each_once([*self._fixed, *in_files, *self._looked_up])

    def problems(self) -> tuple[tuple[str, str], ...]:
        """Return what keeps targets from being found: (file or name, sentence)."""
        return tuple(sorted({**self._files.problems, **self._dns.problems, **self._doubtful}.items()))

    def _each_once(self, targets: Iterable[Target]) -> list[Target]:
        found: dict[str, Target] = {}
        doubtful: dict[str, str] = {}
        for target in targets:
            first = found.setdefault(target.name, target)
            if first.url != target.url:
                doubtful[target.name] = f"two addresses have this name; {target.url} is not scraped"
        for name in doubtful.keys() - self._doubtful.keys():
            _LOG.warning("%s: %s", name, doubtful[name])
        self._doubtful = doubtful
        return list(found.values())


def _access(section: AccessSection) -> Access:
    return Access(
        token_file=section.token_file,
        ca=section.ca,
        certificate=section.certificate,
        key=section.key,
        headers=tuple((name, value.get_secret_value()) for name, value in sorted(section.headers.items())),
    )


def _check(targets: Iterable[Target]) -> None:
    """Refuse what would fail for ever, before anything is begun."""
    urls: dict[str, str] = {}
    every = list(targets)
    for access in {target.access for target in every}:
        if access.token_file is not None:
            read_token(access)
        trust(access)
    for target in every:
        if urls.setdefault(target.name, target.url) != target.url:
            raise ConfigurationError(
                "vllm.targets",
                "two targets have one name",
                found=target.name,
                remedy="give each a name of its own",
            )
