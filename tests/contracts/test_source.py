"""YAML is read as text: nothing is guessed, nothing multiplies, and what is no YAML is one sentence."""

import time

import pytest

from fairclock.clauses.source import LARGEST_FILE_BYTES, read_source
from fairclock.errors import ContractError
from sla.contracts import load_contract, parse_contract
from sla.contracts.clause_examples import CONTRACT_FILE
from tests.contracts.factories import contract_text, good_contract


@pytest.mark.parametrize(
    ("yaml", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("1.10", "1.10"),
        ("09:30", "09:30"),
        ("2026-01-01", "2026-01-01"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("1e3", "1e3"),
        ("'null'", "null"),
        ('""', ""),
        ("+08:00", "+08:00"),
        ("0777", "0777"),
        (".5", ".5"),
    ],
)
def test_a_scalar_stays_the_text_it_was_written_as(yaml, value):
    assert read_source(f"key: {yaml}".encode(), CONTRACT_FILE).tree == {"key": value}


@pytest.mark.parametrize("yaml", ["", "~", "null", "NULL"])
def test_nothing_is_a_problem_and_not_a_text(yaml):
    source = read_source(f"key: {yaml}".encode(), CONTRACT_FILE)
    assert source.tree == {"key": None}
    assert [problem.problem for problem in source.problems] == ["has no value"]


def test_a_key_that_is_written_twice_is_reported_with_both_lines():
    (problem,) = read_source(b"a: 1\nb: {c: 1,\n    c: 2}\n", CONTRACT_FILE).problems
    assert (problem.path, problem.found) == (("b", "c"), "lines 2 and 3")


def test_lines_are_known_for_every_place():
    source = read_source(b"a: 1\nlist:\n  - x: 1\n    y: 2\n  - z\n", CONTRACT_FILE)
    assert source.line_of(("list", 0, "y")) == 4
    assert source.line_of(("list", 1)) == 5
    assert source.line_of(("list", 1, "absent")) == 5
    assert source.line_of(("absent",)) is None


def test_an_alias_means_what_its_anchor_says():
    assert read_source(b"a: &x [1, 2]\nb: *x\n", CONTRACT_FILE).tree == {"a": ("1", "2"), "b": ("1", "2")}


def test_aliases_that_multiply_are_refused_at_once():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    started = time.thread_time()  # what this took, and not what others did meanwhile
    with pytest.raises(ContractError, match="too many values"):
        parse_contract("\n".join(lines))
    assert time.thread_time() - started < 5


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param(b"", "the file is empty", id="an empty file"),
        pytest.param(b"\n# only a comment\n", "the file is empty", id="a file of comments"),
        pytest.param(b"\x7fELF\x02\x01\x00\x00", "the file is binary, not text", id="a binary file"),
        pytest.param(b"a: \x07", "a control character in line 1", id="a control character"),
        pytest.param(b"a: \xff\xfe\xfa", "line 1 is not UTF-8 text", id="another encoding"),
        pytest.param("a: 1".encode("utf-16"), "the file is UTF-16; save it as UTF-8", id="UTF-16"),
        pytest.param(b"- a\n- b\n", "this is not a contract", id="a list"),
        pytest.param(b"just words", "this is not a contract", id="a text"),
        pytest.param(b"a: [1, 2\nb: 3\n", "the file is not YAML", id="a bracket left open"),
        pytest.param(b"a: 1\n\tb: 2\n", "line 2, column 1: the file is not YAML", id="a tab as indentation"),
        pytest.param(b"a: 1\n---\nb: 2\n", "the file is not YAML", id="two documents"),
        pytest.param(b"a: *nobody\n", "found undefined alias", id="an alias of nothing"),
        pytest.param(b"a: &x [*x]\n", "an alias holds itself", id="an alias that holds itself"),
        pytest.param(b"[" * 5000, "the file is", id="brackets without end"),
        pytest.param(b"a: " + b"{b: " * 40 + b"1" + b"}" * 40, "nested too deeply", id="nesting without end"),
        pytest.param(b"a: " + b"x" * LARGEST_FILE_BYTES, "too large for a contract", id="a huge file"),
    ],
)
def test_what_is_no_contract_at_all_is_one_sentence(content, sentence):
    with pytest.raises(ContractError) as refusal:
        parse_contract(content, where="some.yaml")
    assert len(refusal.value.problems) == 1
    assert sentence in refusal.value.problems[0]
    assert str(refusal.value).startswith("some.yaml: ")
    assert refusal.value.exit_code == 2


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        pytest.param(lambda folder: folder / "absent.yaml", "there is no such file", id="a missing file"),
        pytest.param(lambda folder: folder, "this is a directory", id="a directory"),
        pytest.param(lambda folder: f"{folder}/a\0b", "the file cannot be read", id="an impossible path"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path, make, sentence):
    with pytest.raises(ContractError, match=sentence) as refusal:
        load_contract(make(tmp_path))
    assert len(refusal.value.problems) == 1


def test_a_byte_order_mark_changes_nothing_but_the_version():
    text = contract_text()
    plain, marked = parse_contract(text.encode()), parse_contract(b"\xef\xbb\xbf" + text.encode())
    assert plain.model_dump() == marked.model_dump()
    assert plain.version_sha256 != marked.version_sha256


def test_yaml_words_that_mean_something_elsewhere_are_names_here():
    contract = good_contract({"customer.tenants": ["no", "on", "1.10", "null", "2026-01-01"]})
    assert contract.customer.tenants == ("no", "on", "1.10", "null", "2026-01-01")


def test_tags_are_refused_and_not_obeyed():
    with pytest.raises(ContractError, match="carries a YAML tag"):
        parse_contract(contract_text() + "prices: !!python/object/apply:os.getcwd []\n")
