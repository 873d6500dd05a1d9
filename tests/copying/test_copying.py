"""A store comes into another one as a whole, in either direction, and whatever stands in the way is said before or after."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from fairclock.cli import main
from fairclock.errors import StoreError
from fairclock.store import Query, copy_store, migrate_store, open_store
from fairclock.store.copying import copying, notes
from tests.copying.conftest import ROWS, TABLES
from tests.faults.processes import environment


def copied(source, target):
    heard = []
    found = copy_store(source, target, told=heard.append)
    assert heard == found
    return {each.table: each for each in found}


@pytest.fixture
def from_mine(store, monkeypatch):
    """Copy from the store of this process, which is open already."""

    def copy(target):
        with open_store(target) as opened:
            found = copying.copy(store._connection, opened._connection, told=lambda _: None)
        return {each.table: each for each in found}

    return copy


def scalar(dsn, sql, **parameters):
    with open_store(dsn) as opened:
        return opened.rows(Query(sql=sql, parameters=parameters))[0][0]


def test_every_row_of_every_table_arrives_once_and_comes_back_in_the_other_direction(
    store, server, from_mine, tmp_path
):
    found = from_mine(server.dsn)

    assert set(found) == {table.name for table in TABLES}
    assert all(each.is_equal for each in found.values())
    # of tables whose merges drop copies a reader sees each row once; of others the doubled one is there twice
    assert {found[table.name].rows for table in TABLES if not table.is_replacing} == {ROWS + 1}
    assert all(0 < found[table.name].rows <= ROWS for table in TABLES if table.is_replacing)
    assert found["gateway_requests"].rows == ROWS
    assert scalar(server.dsn, "SELECT arraySort(groupArray(state)) FROM copies") == ["begun", "whole"]

    answer = subprocess.run(
        [sys.executable, "-m", "fairclock", "migrate", "--copy-from", server.dsn, "--dsn", f"chdb://{tmp_path}/back", "--json"],
        env=environment(XDG_DATA_HOME=str(tmp_path)), capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (answer.returncode, answer.stderr.splitlines()[-1].partition(":")[0]) == (0, "whole")
    back = {each["table"]: each["target"] for each in map(json.loads, answer.stdout.splitlines())}
    assert back == {
        name: {"rows": each.rows, "digest": f"{each.digest:032x}"} for name, each in found.items()
    }


@pytest.mark.usefixtures("few")
def test_a_copy_that_was_broken_off_is_resumed_and_neither_loses_nor_doubles(store, server, from_mine):
    server.behave("store, then cut", at="INSERT INTO requests ")
    with pytest.raises(StoreError):
        from_mine(server.dsn)
    assert server.misbehaved == 1
    # what was under way had come in part, of which something is left on any day: a month may begin within these hours
    with open_store(server.dsn) as opened:
        opened.execute(
            Query(
                sql="ALTER TABLE requests DELETE WHERE cityHash64(content_hash) % 2"
                " AND content_hash != (SELECT min(content_hash) FROM requests) SETTINGS mutations_sync = 1"
            )
        )
    left = scalar(server.dsn, "SELECT count() FROM requests")
    assert 0 < left <= ROWS

    found = from_mine(server.dsn)

    assert all(each.is_equal for each in found.values())
    assert found["requests"].copied == ROWS + 1 - left
    assert found["gateway_requests"].copied == 0

    # whole, it is compared and never written again
    assert {each.copied for each in from_mine(server.dsn).values()} == {0}
    with open_store(server.dsn) as opened:
        opened.execute(Query(sql="INSERT INTO silences (id) VALUES ('later')"))
    with pytest.raises(StoreError) as caught:
        from_mine(server.dsn)
    assert "copied already, and one of the two was written to since (silences)" in str(caught.value)
    assert scalar(server.dsn, "SELECT count() FROM silences") == ROWS + 2


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        pytest.param("INSERT INTO tokens (id) VALUES ('t')", "it is in use: two stores cannot be made one (1 rows of tokens)", id="a target that is in use is refused"),
        pytest.param("INSERT INTO copies (source, born_at, state) VALUES ('clickhouse://other', '2020-01-01 00:00:00', 'begun')", "another store was copied into it (clickhouse://other)", id="a target that another store was copied into is refused"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("few")
def test_nothing_is_written_where_two_stores_would_be_mixed(store, server, from_mine, statement, said):
    with open_store(server.dsn) as opened:
        opened.execute(Query(sql=statement))

    with pytest.raises(StoreError) as caught:
        from_mine(server.dsn)

    assert said in str(caught.value)
    assert scalar(server.dsn, "SELECT count() FROM gateway_requests") == 0


@pytest.mark.usefixtures("few")
def test_a_store_is_not_copied_into_itself(server):
    with pytest.raises(StoreError) as caught:
        copied(server.dsn, server.dsn)
    assert "both are one and the same store" in str(caught.value)


def test_a_folder_without_a_store_is_not_copied_as_an_empty_one(tmp_path, capsys):
    code, _, err = printed(
        capsys, "--copy-from", f"chdb://{tmp_path}/typo", "--dsn", "clickhouse://nobody@127.0.0.1:1/none"
    )
    assert (code, "there is no store to copy in this folder" in err) == (2, True)
    assert not (tmp_path / "typo").exists()


def test_a_store_into_which_batches_are_written_is_refused(store, server):
    with open_store(server.dsn) as opened:
        opened.execute(Query(sql="INSERT INTO write_log SELECT generateUUIDv4(), now64(6, 'UTC'), 1"))
        with pytest.raises(StoreError) as caught:
            copying._refuse_writes(opened._connection)
        assert "batches are being written into it (1)" in str(caught.value)


@pytest.mark.usefixtures("few")
def test_rows_that_are_added_while_a_store_is_copied_are_told_and_come_with_the_next_run(
    store, server, from_mine, monkeypatch
):
    from_mine_once = notes.begin

    def begin_and_add(target, **words):
        from_mine_once(target, **words)
        # between what is copied of it and what is compared
        target.execute(Query(sql="INSERT INTO silences (id) VALUES ('foreign')"))

    monkeypatch.setattr(copying, "begin", begin_and_add)
    with pytest.raises(StoreError) as caught:
        from_mine(server.dsn)
    assert "the copy is not whole (silences)" in str(caught.value)
    assert scalar(server.dsn, "SELECT groupArray(state) FROM copies") == ["begun"]


@pytest.mark.usefixtures("few")
def test_a_writer_that_rested_when_the_copy_began_leaves_no_copy_that_is_called_whole(store, server):
    def told(comparison):
        # the table is done, and then the writer goes on
        if comparison.table == "silences":
            store.execute(Query(sql="INSERT INTO silences (id) VALUES ('later')"))

    with open_store(server.dsn) as opened:
        with pytest.raises(StoreError) as caught:
            copying.copy(store._connection, opened._connection, told=told)
        assert "it was written to while it was copied (silences)" in str(caught.value)
        assert opened.rows(Query(sql="SELECT groupArray(state) FROM copies")) == [(["begun"],)]

        copying.copy(store._connection, opened._connection, told=lambda _: None)
        assert opened.rows(Query(sql="SELECT count() FROM silences WHERE id = 'later'")) == [(1,)]


def test_a_server_is_migrated_before_it_is_copied_into_and_once_only(server):
    assert migrate_store(server.dsn) == []


def printed(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        main(["migrate", *words])
    captured = capsys.readouterr()
    return stop.value.code, captured.out, captured.err


def test_a_server_is_not_made_a_cluster_by_a_migration(server):
    with pytest.raises(StoreError) as caught:
        migrate_store(server.dsn, cluster="fairclock")
    assert "its tables lie on one server, and not on a cluster (fairclock)" in str(caught.value)


def test_statements_are_printed_for_whoever_reviews_them(capsys):
    code, alone, _ = printed(capsys, "--print", "--dsn", "chdb:///nowhere")
    assert (code, alone.count("CREATE TABLE IF NOT EXISTS requests\n")) == (0, 1)
    code, many, _ = printed(capsys, "--print", "--cluster", "fair", "--dsn", "clickhouse://a@b/mine")
    assert "ENGINE = Distributed('fair', 'mine', requests_local, cityHash64(tenant, toStartOfHour(received_at)))" in many  # fmt: skip


@pytest.mark.parametrize("form", ["sql", "xml"])
def test_accounts_are_printed_for_the_views_that_the_store_has(store, capsys, form):
    code, out, _ = printed(capsys, "--accounts", form, "--reader", "acme=acme,acme-eu", "--dsn", store.dsn)
    assert code == 0
    assert "GRANT SELECT ON fairclock.dashboard_requests" in out
    assert "tenant IN ('acme', 'acme-eu')" in out
    assert "GRANT SELECT ON fairclock.dashboard_engines" not in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--print", "--accounts", "sql"], "--copy-from, --print and --accounts exclude each other"),
        (["--reader", "acme"], "says nothing without --accounts"),
        (["--accounts", "sql", "--reader", "Acme"], "is no name of a reader"),
    ],
    ids=["two questions at once", "a reader without accounts", "a name that is none"],
)
def test_what_makes_no_sense_is_refused(capsys, words, said):
    code, _, err = printed(capsys, *words)
    assert code == 2
    assert said in err
