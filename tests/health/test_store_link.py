"""A store that is in trouble when a command starts: waited for, unless only a person can mend it."""

import pytest

from fairclock.cli.pipeline.store_link import StoreLink
from fairclock.errors import StoreError, StoreNewer, StoreReadOnly, StoreUnreachable

SERVER = "clickhouse://fairclock:secret@127.0.0.1:8123/fairclock"
FOLDER = "chdb:///var/lib/fairclock"


def numbered(code, name):
    return StoreError(
        "clickhouse", f"Received ClickHouse exception, code: {code}, Code: {code}. DB::Exception: x. ({name})"
    )


PASSING = {
    "nobody answers": StoreUnreachable("clickhouse", "nobody answers"),
    "it has no memory left": numbered(241, "MEMORY_LIMIT_EXCEEDED"),
    "it has too many queries": numbered(202, "TOO_MANY_SIMULTANEOUS_QUERIES"),
    "its disk is full": numbered(243, "NOT_ENOUGH_SPACE"),
    "its cluster gathers": numbered(999, "KEEPER_EXCEPTION"),
}
LASTING = {
    "its schema is newer": StoreNewer("clickhouse", "the schema was written by a newer Fairclock"),
    "its schema is older": StoreError("clickhouse", "the schema is older than this program"),
    "it is no ClickHouse": StoreError(
        "clickhouse", "what answers there is no ClickHouse", found="HTTP status 404"
    ),
    "the password is wrong": numbered(516, "AUTHENTICATION_FAILED"),
    "the database is not there": numbered(81, "UNKNOWN_DATABASE"),
    "the account may not write": StoreReadOnly("clickhouse", "it takes no writes", found="Code: 164."),
}


def failing_once(problem):
    """Return what opens a store at the second attempt, and the attempts."""
    attempts = []

    def open_store(dsn):
        attempts.append(dsn)
        if len(attempts) == 1:
            raise problem
        return "the store"

    return open_store, attempts


@pytest.mark.parametrize("problem", PASSING.values(), ids=PASSING)
def test_passing_trouble_of_a_server_is_waited_out(problem):
    open_store, attempts = failing_once(problem)
    link = StoreLink(SERVER, open_store=open_store)
    link.try_to_open()
    assert link.current is None
    assert link.open() == link.current == "the store"
    assert attempts == [SERVER, SERVER]


@pytest.mark.parametrize("problem", LASTING.values(), ids=LASTING)
def test_what_only_a_person_can_mend_ends_the_command(problem):
    with pytest.raises(type(problem), match=problem.problem[:20]):
        StoreLink(SERVER, open_store=failing_once(problem)[0]).try_to_open()


@pytest.mark.parametrize("problem", PASSING.values(), ids=PASSING)
def test_a_folder_that_cannot_be_opened_ends_the_command(problem):
    with pytest.raises(StoreError):
        StoreLink(FOLDER, open_store=failing_once(problem)[0]).try_to_open()
