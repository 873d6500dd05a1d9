"""Where a webhook may go: hostile spellings, names that change their mind, and what is allowed by name."""

import socket

import pytest

from exporters.webhooks.addresses import AddressRefused, checked_addresses, is_internal
from exporters.webhooks.credentials import Secret
from exporters.webhooks.posting import Poster, Request
from tests.webhooks.factories import NOW
from tests.webhooks.receiver import Receiver

INTERNAL = {
    "loopback": "127.0.0.1",
    "the rest of loopback": "127.255.255.254",
    "this host": "0.0.0.0",
    "this network": "0.1.2.3",
    "private 10": "10.1.2.3",
    "private 172": "172.31.255.255",
    "private 192": "192.168.0.1",
    "shared by carriers": "100.64.0.1",
    "link-local": "169.254.1.1",
    "the metadata of most clouds": "169.254.169.254",
    "the metadata of Alibaba Cloud": "100.100.100.200",
    "the platform of Azure": "168.63.129.16",
    "multicast": "224.0.0.1",
    "reserved": "240.0.0.1",
    "broadcast": "255.255.255.255",
    "documentation": "192.0.2.1",
    "benchmarks": "198.18.0.1",
    "IPv6 loopback": "::1",
    "IPv6 unspecified": "::",
    "IPv6 link-local": "fe80::1",
    "IPv6 link-local with its zone": "fe80::1%eth0",
    "IPv6 unique local": "fd12:3456::1",
    "the metadata of AWS on IPv6": "fd00:ec2::254",
    "IPv6 multicast": "ff02::1",
    "IPv6 documentation": "2001:db8::1",
    "IPv4 mapped into IPv6": "::ffff:127.0.0.1",
    "private, mapped into IPv6": "::ffff:10.0.0.1",
    "IPv4-compatible": "::127.0.0.1",
    "6to4 of a private address": "2002:0a00:0001::1",
    "NAT64 of loopback": "64:ff9b::7f00:1",
    "NAT64 of one's own network": "64:ff9b:1::a00:1",
    "no address at all": "somewhere",
}
PUBLIC = {
    "IPv4": "8.8.8.8",
    "beside private 172": "172.32.0.1",
    "beside shared": "100.128.0.1",
    "IPv6": "2606:4700:4700::1111",
    "mapped into IPv6": "::ffff:8.8.8.8",
    "NAT64": "64:ff9b::808:808",
}


@pytest.mark.parametrize("address", INTERNAL.values(), ids=INTERNAL)
def test_an_internal_address_is_known(address):
    assert is_internal(address)
    with pytest.raises(AddressRefused, match="internal address"):
        checked_addresses("receiver.example", 443, allowed=[], resolve=lambda host, port: [address])


@pytest.mark.parametrize("address", PUBLIC.values(), ids=PUBLIC)
def test_a_public_address_is_known(address):
    assert not is_internal(address)
    assert checked_addresses("x.example", 443, allowed=[], resolve=lambda host, port: [address]) == [address]


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0", "localhost", "LOCALHOST.", "::1"],
)
def test_no_spelling_of_this_machine_gets_through_the_systems_own_resolver(host):
    with pytest.raises(AddressRefused):
        checked_addresses(host, 443, allowed=["receiver.example", "127.0.0.2"])


def test_one_internal_address_among_public_ones_refuses_the_name():
    with pytest.raises(AddressRefused):
        checked_addresses("x.example", 443, allowed=[], resolve=lambda host, port: ["8.8.8.8", "10.0.0.1"])


def test_a_name_that_is_allowed_may_be_internal_and_another_may_not():
    def inside(host, port):
        return ["10.0.0.1"]

    assert checked_addresses("Hooks.Internal.", 1, allowed=["hooks.internal"], resolve=inside) == ["10.0.0.1"]
    for other in ("hooks.internal.evil.example", "xhooks.internal", "10.0.0.1"):
        with pytest.raises(AddressRefused):
            checked_addresses(other, 1, allowed=["hooks.internal"], resolve=inside)


def failing(host, port):
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize(
    ("resolve", "said"),
    [(failing, "cannot be resolved (Name or service not known)"), (lambda host, port: [], "no address")],
)
def test_a_name_without_an_address_is_said(resolve, said):
    with pytest.raises(AddressRefused) as caught:
        checked_addresses("x.example", 443, allowed=[], resolve=resolve)
    assert said in str(caught.value)


def poster(**options):
    return Poster(**{"allowed": [], "now": lambda: NOW, **options})


def test_a_name_that_changes_its_mind_after_the_check_leads_nowhere_else():
    """The second answer of a rebinding name is never asked for: one question, and its answer is connected to."""
    with Receiver() as receiver:
        answers = iter([["192.0.2.77"], ["127.0.0.1"]])
        asked = []

        def rebinding(host, port):
            asked.append(host)
            return next(answers)

        url = Secret(f"https://rebind.example:{receiver.port}/")
        response = poster(resolve=rebinding).post(Request(url=url, body=b"{}"))
        assert (response.status, asked) == (0, ["rebind.example"])
        assert "internal address" in response.problem
        assert receiver.received == []


def test_the_address_that_was_checked_is_the_one_that_is_connected_to():
    with Receiver() as receiver:
        asked = []

        def once(host, port):
            asked.append((host, port))
            return ["127.0.0.1"]

        sender = poster(allowed=["nowhere.invalid"], resolve=once)
        url = Secret(f"http://nowhere.invalid:{receiver.port}/hook?k=1")
        assert sender.post(Request(url=url, body=b"{}")).status == 200
        assert asked == [("nowhere.invalid", receiver.port)]
        (got,) = receiver.received
        assert got.path == "/hook?k=1"
        assert got.headers["Host"] == f"nowhere.invalid:{receiver.port}"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://receiver.example/kryptonite", "without TLS"),
        ("http://127.0.0.1/kryptonite", "without TLS"),
        ("https://127.0.0.1:1/kryptonite", "internal address"),
        ("https://[::1]:1/kryptonite", "internal address"),
        ("https://user:word@receiver.example/", "user or a fragment"),
        ("ftp://receiver.example/", "is not an address of HTTP"),
        ("file:///etc/passwd", "is not an address of HTTP"),
        ("https:///kryptonite", "is not an address of HTTP"),
        ("https://receiver.example:99999/", "is not an address of HTTP"),
        ("https://receiver.example/\r\nX: y", "is not an address of HTTP"),
        ("receiver.example", "is not an address of HTTP"),
    ],
)
def test_an_address_that_may_not_be_is_refused_without_being_shown(url, said):
    response = poster(resolve=lambda host, port: [host]).post(Request(url=Secret(url), body=b"{}"))
    assert response.status == 0
    assert said in response.problem
    assert "kryptonite" not in response.problem
    assert "word" not in response.problem
