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
from tests.ledger.killed_ledger import HOURS

ROOT = Path(__file__).parents[2]
BATCH = 4
DEADLINE_SECONDS = 120


def go(folder, what, place, *, batch=BATCH):
    """Let a process come to `place` and kill it there; to its end where that is never."""
    words = ("-m", "tests.ledger.killed_ledger", f"chdb://{folder}", what, str(batch), place)
    with subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            if place == "never":
                said, problems = child.communicate(timeout=DEADLINE_SECONDS)
                assert (child.returncode, said) == (0, "done\n"), problems
                return
            assert child.stdout.readline() == "there\n", child.stderr.read()
        finally:
            child.kill()
    assert child.returncode == -signal.SIGKILL


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


def entries_in(folder):
    with open_store(f"chdb://{folder}") as store:
        return len(stored_rows(store, store.watermark()))


def test_a_ledger_that_was_killed_in_the_middle_is_finished_by_the_next(tmp_path):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    go(killed, "rate", "before 1")
    go(killed, "rate", "after 1")
    assert entries_in(killed) == BATCH
    go(killed, "rate", "before 2")
    assert BATCH < entries_in(killed) < 2 * HOURS
    go(killed, "rate", "never")
    # a month's close is an adjustment, a draft and a final one for each tenant
    go(killed, "close", "after 1", batch=1)
    assert entries_in(killed) == 2 * HOURS + 1
    go(killed, "close", "before 2", batch=2)
    go(killed, "close", "never")
    go(killed, "close", "never")
    go(whole, "rate", "never", batch=2_000)
    go(whole, "close", "never", batch=2_000)
    assert ledger_of(killed) == ledger_of(whole)
    assert {numbers["number"] for _, numbers in ledger_of(whole)["closes"] if "number" in numbers} == {"1"}
