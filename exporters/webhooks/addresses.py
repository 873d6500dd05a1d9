"""Own which addresses a webhook may go to: public ones, and those of hosts that are allowed by name.

What a name resolves to is checked, and the address that was checked is the one that is connected to. So neither
an unusual spelling (``2130706433``, ``0177.0.0.1``, ``::ffff:10.0.0.1``) nor a name that changes its mind between
the check and the connection leads inside.
"""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    IpAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
    Resolve: TypeAlias = Callable[[str, int], list[str]]

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_LOCAL_NAT64 = ipaddress.ip_network("64:ff9b:1::/48")
_IPV4_COMPATIBLE = ipaddress.ip_network("::/96")
_PLATFORMS = frozenset(
    {
        ipaddress.ip_address(
            "168.63.129.16"
        ),  # a cloud platform's own services, on an address that looks public
        ipaddress.ip_address("100.100.100.200"),
        ipaddress.ip_address("169.254.169.254"),
        ipaddress.ip_address("fd00:ec2::254"),
    }
)


class AddressRefused(Exception):  # noqa: N818 - it says what happened
    """A destination that may not be connected to, or that there is not."""


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of `host` in the order in which the system prefers them; raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


def canonical_host(host: str) -> str:
    """Return `host` as it is compared: lower case, no dot at the end, no brackets."""
    return host.strip("[]").rstrip(".").lower()


def checked_addresses(
    host: str, port: int, *, allowed: Collection[str], resolve: Resolve = resolve
) -> list[str]:
    """Return the addresses of `host` that may be connected to; raises `AddressRefused`.

    One internal address among several refuses the name altogether: nobody honest has both.
    """
    try:
        addresses = resolve(host, port)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a name"
        raise AddressRefused(f"the host cannot be resolved ({reason})") from None
    if not addresses:
        raise AddressRefused("the host has no address")
    if canonical_host(host) not in {canonical_host(each) for each in allowed}:
        for address in addresses:
            if is_internal(address):
                raise AddressRefused(
                    "the host has an internal address; name it under webhooks.allow_internal if that is meant"
                )
    return addresses


def is_internal(address: str) -> bool:
    """Return whether `address` is anything but an ordinary public one."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return True
    return any(_is_reserved(each) for each in _meant(ip))


def _meant(ip: IpAddress) -> list[IpAddress]:
    """Return `ip` and the IPv4 address that is wrapped in it, if one is."""
    if isinstance(ip, ipaddress.IPv4Address):
        return [ip]
    if ip.ipv4_mapped is not None:
        return [ip.ipv4_mapped]
    inner: list[IpAddress | None] = [ip.sixtofour, *(ip.teredo or ())]
    if ip in _NAT64:
        # public by itself where the wrapped address is
        return [ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)]
    if ip in _LOCAL_NAT64 or ip in _IPV4_COMPATIBLE:
        inner.append(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF))
    return [ip, *(each for each in inner if each is not None)]


def _is_reserved(ip: IpAddress) -> bool:
    return not ip.is_global or ip.is_multicast or ip.is_reserved or ip in _PLATFORMS
