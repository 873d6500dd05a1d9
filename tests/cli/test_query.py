"""`fairclock query` and `fairclock migrate`, as commands."""

from __future__ import annotations

import pytest

from fairclock import cli


@pytest.fixture(scope="module")
def dsn(tmp_path_factory):
    return f"chdb://{tmp_path_factory.mktemp('query') / 'store'}"


@pytest.fixture
def run(dsn, capfdbinary):
    def call(*words):
        with pytest.raises(SystemExit) as stop:
            cli.main([words[0], "--dsn", dsn, *words[1:]])
        out, err = capfdbinary.readouterr()
        return stop.value.code, out.decode(), err.decode()

    return call


PRINTED = {
    "names and tabs by default": (["SELECT 1 AS a, 'x' AS b"], "a\tb\n1\tx\n"),
    "one object a row": (["--json", "SELECT 1 AS a"], '{"a":1}\n'),
    "a format by option": (["--format", "CSV", "SELECT 1, 'a'"], '1,"a"\n'),
    "a format in the SQL": (["SELECT 1 AS a FORMAT JSONEachRow;"], '{"a":1}\n'),
    "a comment first": (["--", "-- why\nSELECT 1 AS a"], "a\n1\n"),
    "the empty store's tables": (["SELECT count() AS n FROM requests"], "n\n0\n"),
    "a statement that returns nothing": (
        ["INSERT INTO covered (kind, source) SELECT 'gateway', 'x'"],
        "",
    ),
}


@pytest.mark.parametrize(("words", "printed"), PRINTED.values(), ids=PRINTED.keys())
def test_query_prints(run, words, printed):
    assert run("query", *words) == (0, printed, "")


def test_a_mistake_in_the_sql_is_one_sentence_and_exit_2(run):
    code, out, err = run("query", "SELECT nonsense")
    assert (code, out) == (2, "")
    assert "UNKNOWN_IDENTIFIER" in err
    assert "Traceback" not in err


def test_migrate_finds_nothing_to_do_in_an_embedded_store(run):
    assert run("migrate") == (0, "", "nothing to do: the schema is current\n")
    assert run("migrate", "--quiet") == (0, "", "")
