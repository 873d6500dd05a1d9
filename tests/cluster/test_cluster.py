"""The numbered migrations as a cluster has them: written down as agreed, parsed and made by the engine, each table whole."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fairclock.store.cluster import LOCAL, on_cluster
from fairclock.store.migrations import bookkeeping, migrations
from fairclock.store.printing import statements
from fairclock.store.schema import parse_table, tables
from tests.faults.processes import environment

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
ACCOUNTS = Path(__file__).parents[1] / "access" / "golden"
FIRST = 4
"""Migrations that were released never change; the later ones are held to the laws below."""


def of_migration(number):
    [found] = [each for each in migrations() if each.number == number]
    return [
        rendered
        for statement in found.statements
        for rendered in on_cluster(statement, cluster="fairclock", database="fairclock")
    ]


def of_file(name):
    return next(each.statements for each in migrations() if each.name == name)


def everything():
    made = [statement for migration in migrations() for statement in migration.statements]
    return [
        rendered
        for statement in (*made, bookkeeping())
        for rendered in on_cluster(statement, cluster="fairclock", database="fairclock")
    ]


def golden_text():
    return "".join(f"{statement};\n" for number in range(1, FIRST + 1) for statement in of_migration(number))


def test_the_first_migrations_are_rendered_as_they_were_agreed():
    """Write it anew with: python -m tests.cluster.test_cluster; then read the difference."""
    assert golden_text() == (GOLDEN / "0001-0004.sql").read_text()


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.name)
def test_every_table_is_replicated_on_each_shard_and_distributed_in_front(table):
    found = [
        statement
        for statement in everything()
        if re.match(rf"CREATE TABLE IF NOT EXISTS {table.name}(_local)? ", statement)
    ]
    assert len(found) == 2
    local, distributed = found
    assert f"{table.name}{LOCAL} ON CLUSTER fairclock" in local
    assert (
        f"ENGINE = Replicated{table.engine}('/clickhouse/tables/{{shard}}/{{database}}/{table.name}'" in local
    )
    assert distributed.startswith(
        f"CREATE TABLE IF NOT EXISTS {table.name} ON CLUSTER fairclock AS {table.name}{LOCAL}"
    )
    # what a table forgets, and by which key it merges, is the same as on one server
    again = parse_table(re.sub(r"_local ON CLUSTER fairclock", "", local).replace("Replicated", ""))
    assert (again.partition, again.order, again.ttl) == (table.partition, table.order, table.ttl)


@pytest.mark.parametrize("table", [each for each in tables() if each.is_replacing], ids=lambda table: table.name)  # fmt: skip
def test_copies_of_one_row_meet_on_one_shard(table):
    """Merges drop a copy only where both are: the key of the shard is made of what makes rows copies of each other."""
    [_, distributed] = on_cluster(
        next(each for migration in migrations() for each in migration.statements if each.startswith(f"CREATE TABLE IF NOT EXISTS {table.name}\n")),
        cluster="fairclock", database="fairclock",
    )  # fmt: skip
    key = re.search(r"_local, (.*)\)$", distributed)[1]
    used = set(re.findall(r"\b[a-z_]+\b(?!\()", re.sub(r"'[^']*'", "", key)))
    of_content = (
        {"request_id", "join_id", "content_hash", "instance"} if "content_hash" in table.order else set()
    )
    of_content |= {"host"} if table.name == "gpu_events" else set()
    assert used <= {*of_content, *re.findall(r"\w+", table.order)}


def test_a_table_that_is_made_anew_keeps_its_rows_and_is_made_so_from_the_first():
    assert not [statement for statement in everything() if "DROP" in statement]
    [slices] = [
        each for each in everything() if each.startswith("CREATE TABLE IF NOT EXISTS sli_slices_local ")
    ]
    assert slices.endswith("SETTINGS index_granularity = 256, min_compress_block_size = 8192")


def test_a_table_that_becomes_another_is_refused():
    [changed] = [each for each in of_file("finer_slices") if "OR REPLACE" in each]
    with pytest.raises(ValueError, match="makes a table anew on a cluster but for its settings: sli_slices"):
        on_cluster(
            changed.replace("ORDER BY (contract", "ORDER BY (version"),
            cluster="fairclock",
            database="fairclock",
        )


def test_what_no_migration_may_do_on_a_cluster_is_refused():
    with pytest.raises(ValueError, match="no migration does this on a cluster"):
        on_cluster("OPTIMIZE TABLE requests FINAL", cluster="fairclock", database="fairclock")


def of_pages():
    """Return the statements that the operator's pages tell an administrator to run."""
    blocks = [
        block
        for page in ("backup", "scale", "upgrading")
        for block in re.findall(r"^```sql\n(.*?)^```", (ROOT / "docs" / f"{page}.md").read_text(), re.MULTILINE | re.DOTALL)
    ]  # fmt: skip
    found = [each.strip() for block in blocks for each in re.sub(r"^--.*\n", "", block, flags=re.MULTILINE).split(";")]  # fmt: skip
    return [each for each in found if each]


def test_the_pages_have_statements():
    assert len(of_pages()) >= 8


def as_one_server(statement):
    """Return the statement as it can be run without a keeper: replicated tables are plain ones."""
    statement = statement.replace(" ON CLUSTER fairclock", "")
    statement = re.sub(r"Replicated(\w*MergeTree)\('[^']*', '[^']*'(?:, )?", r"\1(", statement)
    return re.sub(r"\breplicated_dedup", "non_replicated_dedup", statement)


def test_the_engine_parses_every_statement_and_makes_what_it_can_without_a_keeper(tmp_path):
    accounts = [
        re.sub(r"^--[^\n]*\n", "", statement, flags=re.MULTILINE)
        for name in ("server.sql", "cluster.sql")
        for statement in re.sub(r"^--[^\n]*\n", "", (ACCOUNTS / name).read_text(), flags=re.MULTILINE).split(";\n")
        if statement.strip()
    ]  # fmt: skip
    asked = {
        "parse": [*everything(), *of_pages(), *(each.replace("SHA256_OF_", "0" * 30) for each in accounts)],
        "run": [as_one_server(statement) for statement in everything()],
        "ask": [
            "SELECT name FROM system.tables WHERE database = 'fairclock' AND engine = 'Distributed' ORDER BY name",
            # the two tables of each name have the same columns, later ones included
            (
                "SELECT name, count(), uniqExact(columns) FROM"
                f" (SELECT table, replaceRegexpOne(table, '{LOCAL}$', '') AS name, arraySort(groupArray((name, type, default_expression))) AS columns"
                "  FROM system.columns WHERE database = 'fairclock' AND NOT startsWith(table, 'dashboard_') GROUP BY table)"
                " GROUP BY name HAVING (count(), uniqExact(columns)) != (2, 1)"
            ),
        ],
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.cluster.engine_with_cluster", tmp_path], input=json.dumps(asked),
        env=environment(XDG_DATA_HOME=str(tmp_path)), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout)
    distributed, different = answer["answers"]
    assert [name for (name,) in distributed] == sorted(
        [*(table.name for table in tables()), "schema_migrations"]
    )
    assert different == []
    assert all(answer["parsed"])


def test_the_printed_statements_are_those_that_are_run():
    printed = statements(database="fairclock", cluster="fairclock")
    assert all(f"{statement};\n" in printed for statement in everything())
    alone = statements(database="fairclock", cluster=None)
    assert "Distributed" not in alone
    assert alone.count("INSERT INTO schema_migrations") == len(migrations())


if __name__ == "__main__":
    (GOLDEN / "0001-0004.sql").write_text(golden_text())
