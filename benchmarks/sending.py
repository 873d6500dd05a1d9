"""Own the sender of the benchmark of the receiver: ``python -m benchmarks.sending HOST:PORT FOLDER``.

It is a process of its own, so that what it costs is not counted as the receiver's.
"""

from __future__ import annotations

import http.client
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_CONNECTIONS = 8


def _send(address: str, bodies: list[bytes]) -> None:
    connection = http.client.HTTPConnection(address)
    for body in bodies:
        connection.request("POST", "/v1/traces", body, {"Content-Type": "application/x-protobuf"})
        answer = connection.getresponse()
        if answer.status != http.client.OK or answer.read():
            raise RuntimeError(f"not all spans were taken ({answer.status})")


def main(address: str, folder: str) -> None:
    """Send every file of `folder` as one request, over several connections at once."""
    bodies = [path.read_bytes() for path in sorted(Path(folder).iterdir())]
    with ThreadPoolExecutor(_CONNECTIONS) as pool:
        for sending in [pool.submit(_send, address, bodies[at::_CONNECTIONS]) for at in range(_CONNECTIONS)]:
            sending.result()


main(*sys.argv[1:])
