"""Own the addresses that the receiver listens on."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass

from fairclock.errors import UsageError

_ADDRESS = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[^:\[\]\s]+)):(?P<port>[0-9]{1,5})")
_LARGEST_PORT = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A host and a port; port 0 lets the system choose."""

    host: str
    port: int

    def __str__(self) -> str:
        """Return it as it is written, with an IPv6 host in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str, *, option: str) -> Address:
    """Read HOST:PORT or [IPV6]:PORT; raises `UsageError` naming `option`."""
    match = _ADDRESS.fullmatch(text.strip())
    if match is None or int(match["port"]) > _LARGEST_PORT:
        raise UsageError(option, "not an address to listen on", found=text, remedy="write 127.0.0.1:4317")
    return Address(host=match["six"] or match["host"], port=int(match["port"]))


def bind(address: Address, *, option: str) -> socket.socket:
    """Return a socket bound to `address`; raises `UsageError` in one sentence where that cannot be."""
    try:
        family, kind, protocol, _, target = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise UsageError(
            option,
            "the host is not known here",
            found=address.host,
            remedy="write an address of this machine",
        ) from error
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(target)
        bound.listen(128)
    except OSError as error:
        bound.close()
        raise UsageError(
            option,
            f"cannot listen on {address}",
            found=error.strerror,
            remedy=f"stop the program that listens there, or choose another address with {option} HOST:PORT",
        ) from error
    return bound
