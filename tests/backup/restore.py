"""Restore a backup into a folder that is new, as docs/backup.md has it: ``python -m tests.backup.restore FOLDER STATEMENT``."""

from __future__ import annotations

import json
import sys

from fairclock.store import Query, open_store
from tests.backup.reading import digests


def main(folder, statement):
    with open_store(f"chdb://{folder}") as store:
        store.execute(Query(sql=statement))
        json.dump(digests(store), sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
