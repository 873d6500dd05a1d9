"""The runbook on backups, carried out: a full one, one of what came since, and a folder that is made of both."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fairclock.errors import StoreError
from fairclock.store import Query, open_store
from fairclock.store.connection import BACKUPS
from tests.backup.reading import digests
from tests.copying.conftest import TABLES, fill
from tests.faults.processes import environment

PAGE = (Path(__file__).parents[2] / "docs" / "backup.md").read_text()
FILLED = {
    "gateway_requests",
    "engine_histograms",
    "requests",
    "seals",
    "sli_slices",
    "tokens",
    "silences",
    "ledger_entries",
}
FULL, SINCE = "2026-11-01", "2026-11-02"
BACK_UP, BACK_UP_SINCE, RESTORE = re.findall(r'"((?:BACKUP|RESTORE) DATABASE fairclock [^"]*)"', PAGE)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('mine') / 'store'}") as opened:
        for table in TABLES:
            if table.name in FILLED:
                fill(opened, table)
        yield opened


def run(folder, words):
    done = subprocess.run(
        [sys.executable, "-m", "tests.backup.restore", folder, words],
        env=environment(XDG_DATA_HOME=str(folder)), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_the_page_says_brings_everything_back(store, tmp_path):
    mine = Path(store.dsn.removeprefix("chdb://"))
    store.execute(Query(sql=BACK_UP.replace("NAME", FULL)))
    store.execute(Query(sql="INSERT INTO silences (id) VALUES ('since')"))
    fill(store, next(table for table in TABLES if table.name == "gateway_requests"))
    store.execute(Query(sql=BACK_UP_SINCE.replace("NEXT", SINCE).replace("NAME", FULL)))
    kept = digests(store)
    # what comes after the last backup is not in it
    store.execute(Query(sql="INSERT INTO silences (id) VALUES ('lost')"))

    anew = tmp_path / "anew"
    shutil.copytree(mine / BACKUPS, anew / BACKUPS)
    back = run(anew, RESTORE.replace("NEXT", SINCE))

    assert back == kept
    assert back["silences"][0] == digests(store)["silences"][0] - 1
    assert set(kept) == FILLED


def test_a_backup_goes_nowhere_but_into_its_folder(store, tmp_path):
    with pytest.raises(StoreError, match="is not allowed for backups"):
        store.execute(Query(sql=f"BACKUP DATABASE fairclock TO File('{tmp_path}/elsewhere')"))


def test_the_embedded_engine_keeps_no_logs_of_its_own(store):
    """A server's logs are given an end in its configuration; here there are none."""
    found = store.rows(Query(sql="SELECT name FROM system.tables WHERE database = 'system' AND engine LIKE '%MergeTree'"))  # fmt: skip
    assert found == []


DOCS = Path(__file__).parents[2] / "docs"
SQL = sorted(
    {
        " ".join(found.split())
        for page in [*(DOCS / "runbooks").glob("*.md"), *(DOCS / f"{name}.md" for name in ("troubleshooting", "scale", "alerts", "operations"))]
        for found in re.findall(r'fairclock query "([^"]+)"|`(?=SELECT )([^`]+)`|^(?=SELECT )(.*);$', page.read_text(), re.MULTILINE)
        for found in found
        if found
    }
)  # fmt: skip


@pytest.mark.parametrize("sql", SQL, ids=lambda sql: sql[:60])
def test_every_question_of_the_operators_pages_can_be_asked(store, sql):
    answer = store.raw(Query(sql=sql), None if "FORMAT " in sql else "TSV")
    assert answer is not None


def test_the_pages_have_questions():
    assert len(SQL) > 12
