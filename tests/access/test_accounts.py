"""Each account does what it is for and nothing else, on the engine itself: as the file of users has it, and SQL says the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fairclock.errors import UsageError
from fairclock.store.access.accounts import OWNER, READER, WRITER, Shown, accounts, parse_reader
from fairclock.store.access.rendering import as_sql, as_users_file
from tests.faults.processes import environment
from tests.store.conftest import gateway_line

GOLDEN = Path(__file__).parent / "golden"
DENIED, READ_ONLY = 497, 164
# The embedded engine makes its database itself; on a server an administrator does.
EMBEDDED = ("GRANT CREATE DATABASE ON fairclock.*",)
READERS = [parse_reader("acme=acme,acme-eu"), parse_reader("globex")]
ADMITTED = {"acme": [["acme"], ["acme-eu"]], "globex": [["globex"]]}
TERMS = """
INSERT INTO contract_terms (contract, version, tenants, objectives, kinds, clocks, at_most_us, share_of, share_in, in_force_to, stored_at)
SELECT t.1, 'v', t.2, ['p99'], ['latency'], ['end_to_end'], [1], [1], [100], '2100-01-01 00:00:00', now64(6)
FROM (SELECT arrayJoin([('acme-2026', ['acme', 'acme-eu']), ('globex-2026', ['globex']), ('all-2026', ['acme', 'globex'])]) AS t)
"""
ENTRIES = """
INSERT INTO ledger_entries (tenant, sequence, kind, starts_at, amount, body, stored_at)
SELECT arrayJoin(['acme', 'acme-eu', 'globex']), 1, 'charge', now64(6), '1', '{}', now64(6)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("accounts")


def work(folder, account, users, statements, **words):
    done = subprocess.run(
        [sys.executable, "-m", "tests.access.as_account", folder, account],
        input=json.dumps({"users": users, "statements": statements, **words}),
        env=environment(XDG_DATA_HOME=str(folder)), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def users_file(shown, *, more=EMBEDDED):
    """The file, with what the embedded engine needs beyond a server."""
    text = as_users_file(accounts("fairclock", shown, READERS), database="fairclock")
    extra = "".join(f"<query>{grant}</query>" for grant in more)
    for name in (OWNER, WRITER):
        head, tail = text.split(f"<{name}>\n      <password", 1)
        text = f"{head}<{name}>\n      <password" + tail.replace("<grants>", f"<grants>{extra}", 1)
    return text


@pytest.fixture(scope="module")
def made(folder):
    """A store that the owner made, with three tenants' rows in it; what it shows."""
    statements = [TERMS, ENTRIES]
    views = Shown(views={}, contracts={})
    owned = work(folder, OWNER, users_file(views), statements, opens=True, feeds=[[
        gateway_line(number, tenant=tenant, request_id=f"r{number}").decode()
        for number, tenant in enumerate(("acme", "acme-eu", "globex"))
    ]])  # fmt: skip
    assert [each.get("said") for each in owned["answers"]] == [None, None, None]
    return Shown(**owned["shown"])


def test_the_owner_makes_the_schema_and_lets_views_run_as_an_account_of_their_own(folder, made):
    statements = [
        f"ALTER TABLE fairclock.{view} MODIFY SQL SECURITY DEFINER DEFINER = fairclock_views"
        for view in made.views
    ]
    answers = work(folder, OWNER, users_file(made), [*statements, "CREATE USER another"], opens=True)[
        "answers"
    ]
    assert [each.get("code") for each in answers] == [*(None for _ in statements), DENIED]


def test_the_writer_feeds_and_seals_and_changes_no_table(folder, made):
    statements = [
        "SELECT count() FROM gateway_requests",
        "DROP TABLE gateway_requests",
        "ALTER TABLE requests DELETE WHERE 1",
        "TRUNCATE TABLE ledger_entries",
        "CREATE TABLE mine (x Int8) ENGINE = Memory",
        "SELECT * FROM file('/etc/hostname', LineAsString)",
    ]
    done = work(folder, WRITER, users_file(made), statements, opens=True, feeds=[[gateway_line(9, request_id="r9").decode()]])  # fmt: skip
    assert [each.get("code") for each in done["answers"]] == [None, *[DENIED] * 5, None]
    assert done["answers"][-1]["rows"] == [1, 1, True, True]


def test_grafanas_reader_sees_every_view_and_no_table(folder, made):
    answers = work(
        folder,
        READER,
        users_file(made),
        [
            *(f"SELECT * FROM fairclock.{view}" for view in made.views),
            "SELECT * FROM fairclock.tokens",
            "SELECT * FROM fairclock.gateway_requests",
            "INSERT INTO fairclock.dashboard_ledger VALUES ()",
            "SET readonly = 0",
            "SET max_block_size = 1000",
            "SELECT DISTINCT tenant FROM fairclock.dashboard_requests ORDER BY tenant",
        ],
    )["answers"]
    assert [each.get("code") for each in answers] == [
        *(None for _ in made.views), DENIED, DENIED, *([answers[-4]["code"]]), READ_ONLY, None, None,
    ]  # fmt: skip
    assert answers[-4]["code"] in {DENIED, READ_ONLY, 48}
    assert answers[-1]["rows"] == [["acme"], ["acme-eu"], ["globex"]]


@pytest.mark.parametrize(
    "reader", READERS, ids=lambda reader: f"a reader of {reader.name} sees its own rows only"
)
def test_a_tenants_reader_sees_its_rows_and_nothing_of_any_other(folder, made, reader):
    [account] = [each for each in accounts("fairclock", made, READERS) if each.name == reader.account]
    with_tenant = [view for view, columns in made.views.items() if "tenant" in columns]
    with_contract = [
        view for view in account.filters if "contract" in made.views[view] and view not in with_tenant
    ]
    without = [view for view in made.views if view not in account.filters]
    assert with_tenant
    assert with_contract
    assert without
    answers = work(
        folder,
        reader.account,
        users_file(made),
        [
            *(f"SELECT DISTINCT tenant FROM fairclock.{view} ORDER BY tenant" for view in with_tenant),
            *(f"SELECT DISTINCT contract FROM fairclock.{view}" for view in with_contract),
            *(f"SELECT * FROM fairclock.{view}" for view in without),
            "SELECT * FROM fairclock.ledger_entries",
        ],
    )["answers"]
    tenants, contracts = answers[: len(with_tenant)], answers[len(with_tenant) :][: len(with_contract)]
    assert all(each["rows"] in ([], ADMITTED[reader.name]) for each in tenants)
    assert ADMITTED[reader.name] in [each["rows"] for each in tenants]
    # of a contract of several customers nobody alone sees the figures
    assert all(each["rows"] in ([], [[f"{reader.name}-2026"]]) for each in contracts)
    assert [[f"{reader.name}-2026"]] in [each["rows"] for each in contracts]
    assert {each.get("code") for each in answers[len(with_tenant) + len(with_contract) :]} == {DENIED}


SHOWN = Shown(
    views={"dashboard_charges": ("tenant", "amount"), "dashboard_contracts": ("contract", "tenants"), "dashboard_engines": ("target",), "dashboard_slices": ("contract", "minute")},
    contracts={"acme-2026": ("acme",), "it's-2026": ("acme", "acme-eu"), "globex-2026": ("globex",), "nobody": ()},
)  # fmt: skip
RENDERED = {
    "server.sql": lambda found: as_sql(found, database="fairclock", views=sorted(SHOWN.views), cluster=None),
    "cluster.sql": lambda found: as_sql(found, database="fairclock", views=sorted(SHOWN.views), cluster="fair clock"),
    "users.xml": lambda found: as_users_file(found, database="fairclock"),
}  # fmt: skip


@pytest.mark.parametrize("name", RENDERED)
def test_what_is_written_down_is_as_it_was_agreed(name):
    """Write it anew with: python -m tests.access.test_accounts; then read the difference."""
    assert RENDERED[name](accounts("fairclock", SHOWN, READERS)) == (GOLDEN / name).read_text()


@pytest.mark.parametrize(
    "text", ["", "Acme=acme", "writer=acme", "9=acme", "a b=acme"], ids=lambda text: f"{text or 'nothing'} is refused"
)  # fmt: skip
def test_a_name_that_is_no_name_of_a_reader_is_refused(text):
    with pytest.raises(UsageError, match="is no name of a reader"):
        parse_reader(text)


def test_one_name_twice_is_refused():
    with pytest.raises(UsageError, match="two readers have one name"):
        accounts("fairclock", SHOWN, [parse_reader("acme"), parse_reader("acme=globex")])


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for file, render in RENDERED.items():
        (GOLDEN / file).write_text(render(accounts("fairclock", SHOWN, READERS)))


def test_no_tenants_reader_is_given_a_view_before_its_rows_are_told_apart():
    """An administrator's client stops at the first statement that fails."""
    statements = (GOLDEN / "server.sql").read_text().splitlines()
    policies = [place for place, each in enumerate(statements) if each.startswith("CREATE ROW POLICY")]
    rights = [place for place, each in enumerate(statements) if each.startswith("GRANT") and each.endswith(("TO fairclock_acme;", "TO fairclock_globex;"))]  # fmt: skip
    assert policies
    assert max(policies) < min(rights)
