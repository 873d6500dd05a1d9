"""Targets that are records of a name, asked of a real name server."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import TYPE_CHECKING

import dns.flags
import dns.message
import dns.rcode
import dns.rrset
import pytest

from collectors.vllm_metrics.configuration import DnsSection
from collectors.vllm_metrics.scraping.dns_discovery import DnsTargets, SystemResolver
from collectors.vllm_metrics.scraping.targets import Defaults

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULTS = Defaults(interval_seconds=15.0, timeout_seconds=10.0)


class NameServer:
    """Answer questions over UDP from `records`: (name, type) to texts; what is not there is no name."""

    def __init__(self) -> None:
        self.records: dict[tuple[str, str], list[str]] = {}
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                wire, sender = self._socket.recvfrom(4096)
            except OSError:
                return
            question = dns.message.from_wire(wire)
            answer = dns.message.make_response(question)
            answer.flags |= dns.flags.RA
            asked = question.question[0]
            name, kind = asked.name.to_text(omit_final_dot=True), dns.rdatatype.to_text(asked.rdtype)
            if (name, kind) in self.records:
                answer.answer.append(
                    dns.rrset.from_text(asked.name, 5, "IN", kind, *self.records[name, kind])
                )
            elif not any(name == known for known, _ in self.records):
                answer.set_rcode(dns.rcode.NXDOMAIN)
            try:
                self._socket.sendto(answer.to_wire(), sender)
            except OSError:
                return


@pytest.fixture
def name_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[NameServer]:
    monkeypatch.setattr("collectors.vllm_metrics.scraping.dns_discovery._LIFETIME_SECONDS", 120.0)
    server = NameServer()
    yield server
    server.close()


def look_up(server: NameServer, *sections: DnsSection, again: int = 1) -> tuple[list[str], dict[str, str]]:
    targets = DnsTargets(sections, DEFAULTS, SystemResolver(nameserver="127.0.0.1", port=server.port))

    async def run() -> list[str]:
        for _ in range(again - 1):
            await targets.look_up()
        return [target.url for target in await targets.look_up()]

    return asyncio.run(run()), targets.problems


@pytest.mark.parametrize(
    ("section", "records", "urls"),
    [
        pytest.param(
            DnsSection(name="vllm.test", type="A", port=8000),
            ["10.0.0.2", "10.0.0.1"],
            ["http://10.0.0.1:8000/metrics", "http://10.0.0.2:8000/metrics"],
            id="A records with the port of the section",
        ),
        pytest.param(
            DnsSection(name="vllm.test", type="AAAA", port=8000, scheme="https", path="/m"),
            ["fd00::1"],
            ["https://[fd00::1]:8000/m"],
            id="AAAA records",
        ),
        pytest.param(
            DnsSection(name="vllm.test"),
            ["0 5 8001 b.vllm.test.", "0 5 8000 a.vllm.test."],
            ["http://a.vllm.test:8000/metrics", "http://b.vllm.test:8001/metrics"],
            id="SRV records with ports of their own",
        ),
        pytest.param(DnsSection(name="vllm.test"), ["0 0 0 ."], [], id="an SRV record that says: not here"),
    ],
)
def test_records_are_targets(
    name_server: NameServer, section: DnsSection, records: list[str], urls: list[str]
) -> None:
    name_server.records["vllm.test", section.type] = records
    assert look_up(name_server, section) == (urls, {})


def test_a_name_that_is_not_there_is_a_problem_and_no_target(name_server: NameServer) -> None:
    assert look_up(name_server, DnsSection(name="gone.test")) == ([], {"gone.test": "there is no such name"})


def test_a_name_without_such_records_is_another_problem(name_server: NameServer) -> None:
    name_server.records["vllm.test", "A"] = ["10.0.0.1"]
    assert look_up(name_server, DnsSection(name="vllm.test")) == ([], {"vllm.test": "it has no SRV records"})


def test_a_name_that_is_gone_for_a_while_keeps_its_targets(name_server: NameServer) -> None:
    name_server.records["vllm.test", "A"] = ["10.0.0.1"]
    section = DnsSection(name="vllm.test", type="A", port=1)
    targets = DnsTargets([section], DEFAULTS, SystemResolver(nameserver="127.0.0.1", port=name_server.port))
    assert len(asyncio.run(targets.look_up())) == 1
    name_server.records.clear()
    assert len(asyncio.run(targets.look_up())) == 1
    assert targets.problems == {"vllm.test": "there is no such name"}
    name_server.records["vllm.test", "A"] = ["10.0.0.1", "10.0.0.2"]
    assert len(asyncio.run(targets.look_up())) == 2
    assert targets.problems == {}
