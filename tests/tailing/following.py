"""A program that follows a log into a spool until it is killed: python -m tests.tailing.following LOG FOLDER."""

import sys
import threading
import time
from pathlib import Path

from collectors.gateway.tailing import Tailer
from exporters.spool import Spool

LIMIT_BYTES = 1 << 30


def main(log, folder):
    with (
        Spool(Path(folder) / "spool", limit_bytes=LIMIT_BYTES) as spool,
        Tailer(
            [log], source="gateway", checkpoint_directory=Path(folder) / "tails", deliver=spool.append
        ) as tail,
    ):
        sys.stdout.write("following\n")
        sys.stdout.flush()
        tail.run(threading.Event(), now_us=lambda: time.time_ns() // 1000)


if __name__ == "__main__":
    main(*sys.argv[1:])
