"""A process that rates or closes is killed in the middle, again and again: what others finish is what one alone would have made."""

import signal
import subprocess
import sys
from pathlib import Path

from billing.bookkeeping.books import anchors, books_at, drafts_of, stored_rows
from billing.ledger import EntryKind, verify
from billing.ledger.views import table
from fairclock.store import open_store
from fairclock.store.ledger import EntryChoice
from tests.ledger.killed_ledger import BATCH, HOURS, rate_and_close

ROOT = Path(__file__).parents[2]
USED = 2 * HOURS


def kill(folder, place):
    """Let a process come to `place`, kill it there, and return how many entries it has left."""
    words = ("-m", "tests.ledger.killed_ledger", f"chdb://{folder}", place)
    with subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stdout.readline() == "there\n", child.stderr.read()
        finally:
            child.kill()
    assert child.returncode == -signal.SIGKILL
    with open_store(f"chdb://{folder}") as store:
        return len(stored_rows(store, store.watermark()))


def finish(folder):
    """Rate and close, twice, undisturbed."""
    with open_store(f"chdb://{folder}") as store:
        rate_and_close(store)
        rate_and_close(store)


def ledger_of(folder):
    """Return what the ledger holds after a look at every link: sums, numbers, and how many entries of each kind there are."""
    with open_store(f"chdb://{folder}") as store:
        known = store.watermark()
        rows = stored_rows(store, known)
        assert verify(rows, anchors(store, known)) == []
        found = drafts_of(store, books_at(store, known), EntryChoice())
    drafts = [draft for each in found.values() for _, draft in each]
    return {
        "sums": table(drafts, ["tenant", "hour"]),
        "closes": [(each.tenant, dict(each.facts)) for each in drafts if each.kind is EntryKind.CLOSE],
        "kinds": {(tenant, kind): sum(draft.kind is kind for _, draft in each)
                  for tenant, each in sorted(found.items()) for kind in EntryKind},
    }  # fmt: skip


def test_a_ledger_that_was_killed_in_the_middle_is_finished_by_the_next(tmp_path):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    assert kill(killed, "after 2") == 2 * BATCH  # rating, with the ends of chains not noted
    # one batch is left to be rated; a close is an adjustment, a draft and a final one for each tenant
    assert kill(killed, "after 2") == USED + BATCH
    finish(killed)
    finish(whole)
    assert ledger_of(killed) == ledger_of(whole)
    assert {numbers["number"] for _, numbers in ledger_of(whole)["closes"] if "number" in numbers} == {"1"}
