"""Whatever a file holds, it is a contract or a list of problems, never a crash; and a kept promise to be strict."""

import copy

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from fairclock.errors import ContractError
from sla.contracts import examine, lint_examination, parse_contract
from sla.contracts.showing import clauses_of
from tests.contracts.test_loading import COMPLETE

EXAMPLE = yaml.load(COMPLETE.read_text(), Loader=yaml.BaseLoader)


def _places(tree, path=()):
    if path:
        yield path
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for step, inner in pairs:
        yield from _places(inner, (*path, step))


PLACES = sorted(_places(EXAMPLE), key=str)
TEXTS = (
    "",
    "x",
    "0",
    "1",
    "2s",
    "100%",
    "99.9",
    "true",
    "workdays",
    "none",
    "９９",
    "24:00",
    "2026-02-30",
    "not",
)
ODD_TEXTS = ("not not", "-1", "1e9", "~", "<<", "*")
SHAPES = ([], {}, [[]], {"a": "b"}, ["x", "x"], [{}], {"from": "1"})
FRAGMENTS = st.sampled_from((*TEXTS, *ODD_TEXTS, *SHAPES))


def _changed(changes):
    tree = copy.deepcopy(EXAMPLE)
    for path, fragment, remove in changes:
        place = tree
        try:
            for step in path[:-1]:
                place = place[step]
            if remove:
                del place[path[-1]]
            else:
                place[path[-1]] = fragment
        except (KeyError, IndexError, TypeError):
            continue
    return yaml.safe_dump(tree, allow_unicode=True)


@settings(max_examples=150)
@given(st.lists(st.tuples(st.sampled_from(PLACES), FRAGMENTS, st.booleans()), min_size=1, max_size=5))
def test_a_contract_with_anything_in_any_place_is_answered(changes):
    examination = examine(_changed(changes))
    findings = lint_examination(examination)
    assert (examination.contract is None) == bool(examination.problems)
    assert all(each.sentence("en") and each.sentence("zh") and each.as_json() for each in findings)
    if examination.contract is None:
        assert any(finding.severity == "error" for finding in findings)
    else:
        again = parse_contract(yaml.safe_dump(clauses_of(examination.contract), allow_unicode=True))
        assert again.model_dump() == examination.contract.model_dump()


@settings(max_examples=150)
@given(st.sampled_from(PLACES), st.text(alphabet="abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=9))
def test_no_key_is_ever_silently_ignored(path, word):
    """A key that is renamed is a problem, unless it names a period, which then is missing where it was used."""
    key = path[-1]
    if not isinstance(key, str) or f"{word}x" == key:
        return
    tree = copy.deepcopy(EXAMPLE)
    place = tree
    for step in path[:-1]:
        place = place[step]
    place[f"{word}x"] = place.pop(key)
    assert examine(yaml.safe_dump(tree, allow_unicode=True)).problems


@settings(max_examples=100)
@given(st.binary(max_size=200))
def test_bytes_are_answered(content):
    try:
        problems = examine(content).problems
    except ContractError as refusal:
        problems = refusal.problems
    assert problems
