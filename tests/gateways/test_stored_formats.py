"""Every format's fixture through the real store: each request is a row, and nothing that a client wrote besides its path is in it."""

import pytest

from collectors.gateway.files import read_gateway_files
from collectors.gateway.formats import UnreadableLine, format_of
from fairclock.store import Query, open_store
from tests.gateways.reading import lines_of, read

NAMES = [
    "haproxy", "haproxy-json", "traefik-json", "traefik-clf", "caddy-json", "apisix-json", "kong-json", "aws-alb",
    "azure-application-gateway",
]  # fmt: skip
SECRETS = (
    b"hunter2",
    b"secret=1",
    b"user=secret",
    b"sk-apisix",
    b"sk-kong",
    b"prompt of a customer",
    b"answer to a customer",
)


def is_read(name, line):
    try:
        read(name, line)
    except UnreadableLine:
        return False
    return True


def lines_and_cuts_of(name):
    """Return the fixture's lines and each once more without its end: a dead letter, or what measures the same."""
    lines = lines_of(name)
    return [*lines, *(line[:-9] for line in lines)]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formats")
    readings = {}
    with open_store(f"chdb://{folder}/store") as store:
        for name in NAMES:
            log = folder / f"{name}.log"
            log.write_bytes(b"\n".join(lines_and_cuts_of(name)) + b"\n")
            (readings[name],) = read_gateway_files(store, [str(log)], source=name)
        yield store, readings


def rows(store, sql, **parameters):
    return store.rows(Query(sql=sql, parameters=parameters))


@pytest.mark.parametrize("name", NAMES)
def test_each_request_is_a_row_and_each_other_line_is_counted(stored, name):
    store, readings = stored
    form, lines = format_of(name), lines_and_cuts_of(name)
    ignored = sum(form.ignores(line) for line in lines)
    readable = sum(not form.ignores(line) and is_read(name, line) for line in lines)
    counts = readings[name].counts
    assert (counts.read, counts.stored, counts.ignored) == (len(lines), readable, ignored)
    assert counts.dead_letters == len(lines) - readable - ignored
    found = rows(store, "SELECT count() FROM gateway_requests WHERE source = {source:String}", source=name)
    assert found == [(readable,)]


def test_no_route_holds_a_query(stored):
    store, _ = stored
    assert (
        rows(
            store,
            "SELECT route FROM gateway_requests WHERE position(route, '?') > 0 OR position(route, '://') > 0",
        )
        == []
    )


@pytest.mark.parametrize("table", ["gateway_requests", "dead_letters"])
def test_no_query_key_prompt_or_answer_is_in_the_store(stored, table):
    store, _ = stored
    whole = "\n".join(map(repr, rows(store, f"SELECT * FROM {table}"))).encode()
    assert len(whole) > 1000
    assert [secret for secret in SECRETS if secret in whole] == []


def test_the_fixtures_hold_what_must_not_get_in():
    whole = b"".join(line for name in NAMES for line in lines_of(name))
    assert [secret for secret in SECRETS if secret not in whole] == []


def test_a_dead_letter_names_the_field(stored):
    store, _ = stored
    reasons = {reason for (reason,) in rows(store, "SELECT DISTINCT reason FROM dead_letters")}
    assert "status: absent (Traefik answered itself; its JSON says what)" in reasons
    assert "not a JSON object" in reasons
