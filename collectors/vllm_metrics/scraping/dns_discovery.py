"""Own targets that are the records of a name in the DNS."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

import dns.asyncresolver
import dns.exception
import dns.resolver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from collectors.vllm_metrics.configuration import DnsSection
    from collectors.vllm_metrics.scraping.targets import Defaults, Target

_LOG = logging.getLogger(__name__)
_LIFETIME_SECONDS = 5.0


class Resolver(Protocol):
    """What looks names up."""

    async def places(self, name: str, kind: str) -> Sequence[tuple[str, int | None]]:
        """Return hosts, with ports where the records have them; raises `LookupError` with a sentence."""
        ...


class SystemResolver:
    """The resolver that the system is configured with, or the one at `nameserver` and `port`."""

    def __init__(self, *, nameserver: str | None = None, port: int = 53) -> None:
        self._nameserver, self._port = nameserver, port

    async def places(self, name: str, kind: str) -> Sequence[tuple[str, int | None]]:
        """Return hosts, with ports for SRV records; raises `LookupError`."""
        try:
            resolver = dns.asyncresolver.Resolver(configure=self._nameserver is None)
            if self._nameserver is not None:
                resolver.nameservers, resolver.port = [self._nameserver], self._port
            resolver.lifetime = _LIFETIME_SECONDS
            answer = await resolver.resolve(name, kind, search=True)
        except dns.resolver.NXDOMAIN as error:
            raise LookupError("there is no such name") from error
        except dns.resolver.NoAnswer as error:
            raise LookupError(f"it has no {kind} records") from error
        except (dns.exception.DNSException, OSError) as error:
            raise LookupError(f"it cannot be looked up ({type(error).__name__})") from error
        if kind == "SRV":
            # a lone dot says that the service is not there (RFC 2782)
            return [
                (host, each.port)
                for each in answer
                if (host := each.target.to_text(omit_final_dot=True)) != "."
            ]
        return [(f"[{each.address}]" if kind == "AAAA" else each.address, None) for each in answer]


class DnsTargets:
    """The targets behind some names; a name that cannot be looked up keeps those it had, and is told once."""

    def __init__(self, sections: Sequence[DnsSection], defaults: Defaults, resolver: Resolver) -> None:
        self._sections = sections
        self._defaults = defaults
        self._resolver = resolver
        self._found: dict[int, list[Target]] = {}
        self.problems: dict[str, str] = {}

    async def look_up(self) -> list[Target]:
        """Return all targets as the names have them now."""
        for number, section in enumerate(self._sections):
            try:
                places = await self._resolver.places(section.name, section.type)
            except LookupError as error:
                self._problem(section.name, str(error), kept=len(self._found.get(number, ())))
                continue
            self.problems.pop(section.name, None)
            self._found[number] = [
                self._defaults.target(f"{section.scheme}://{host}:{section.port or port}{section.path}")
                for host, port in sorted(set(places), key=str)
            ]
        return [target for number in sorted(self._found) for target in self._found[number]]

    def _problem(self, name: str, text: str, *, kept: int) -> None:
        if self.problems.get(name) != text:
            _LOG.warning("%s: %s; %d targets stay as they were", name, text, kept)
        self.problems[name] = text
