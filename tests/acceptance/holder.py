"""Own a process that holds a store's folder and does what it is told: one JSON string of SQL a line."""

from __future__ import annotations

import json
import os
import sys

from fairclock.store import Query, open_store


def main() -> None:
    """Hold the store until the input ends."""
    with open_store(os.environ["FAIRCLOCK_DSN"]) as store:
        for line in sys.stdin:
            store.execute(Query(sql=json.loads(line), parameters={}))
            sys.stdout.write("true\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
