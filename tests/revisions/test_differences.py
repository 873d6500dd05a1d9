"""What differs between two evaluations, and which reasons could have moved which figure."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sla.revisions.differences import Difference, differences
from sla.revisions.figures import OF_OBJECTIVES, digest_of, read_figures, written
from sla.revisions.reasons import reasons_of

VERDICTS = ("met", "violated", "insufficient_data", "not_measured")


def an_objective(**changes: Any) -> dict[str, Any]:
    said = {
        "name": "availability",
        "part": None,
        "n": 10,
        "violations": 1,
        "value": 0.9,
        "verdict": "met",
        "verdict_without_exclusions": "met",
    }
    return said | changes


def some_figures(**changes: Any) -> dict[str, Any]:
    said = {
        "admitted": 10,
        "coverage": {"gateway": 1.0, "engine": 0.5, "joined": None},
        "rows_sha256": "aa",
        "versions": [{"version_sha256": "v1", "from": "a", "to": "b"}],
        "objectives": [an_objective()],
        "exclusions": {},
    }
    return said | changes


def brief(found: list[Difference]) -> list[tuple[str | None, str, Any, Any]]:
    return [(each.objective, each.what, each.before, each.after) for each in found]


CREDIT = {"id": "cr-1", "objective": "p99", "amount": "5.00"}
GRANTED = {"clause": "exclusions.maintenance", "granted_seconds": 60.0}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param({}, {}, [], id="nothing differs"),
        pytest.param(
            {},
            {"admitted": 12, "coverage": {"gateway": 1.0, "engine": 0.6, "joined": None}},
            [(None, "admitted", 10, 12), (None, "coverage.engine", 0.5, 0.6)],
            id="requests and coverage",
        ),
        pytest.param(
            {},
            {"objectives": [an_objective(n=11, value=None, verdict="violated")]},
            [
                ("availability", "n", 10, 11),
                ("availability", "value", 0.9, None),
                ("availability", "verdict", "met", "violated"),
            ],
            id="an objective's figures",
        ),
        pytest.param(
            {"objectives": [an_objective(part={"model": "a"}), an_objective(part={"model": "b"})]},
            {"objectives": [an_objective(part={"model": "b"}), an_objective(part={"model": "a"}, n=9)]},
            [("availability", "n", 10, 9)],
            id="parts are told apart, in whatever order they come",
        ),
        pytest.param(
            {"objectives": [an_objective(), an_objective(n=5)]},
            {"objectives": [an_objective(), an_objective(n=6)]},
            [("availability", "n", 5, 6)],
            id="two versions of a contract judge one objective each",
        ),
        pytest.param(
            {"objectives": []},
            {},
            [("availability", what, None, an_objective()[what]) for what in OF_OBJECTIVES],
            id="an objective that was not there",
        ),
        pytest.param(
            {},
            {"objectives": []},
            [("availability", what, an_objective()[what], None) for what in OF_OBJECTIVES],
            id="an objective that is gone",
        ),
        pytest.param(
            {"exclusions": {"ex-1": GRANTED}},
            {"exclusions": {"ex-1": GRANTED, "ex-2": GRANTED}},
            [(None, "exclusion", None, {"id": "ex-2", **GRANTED})],
            id="an exclusion more",
        ),
        pytest.param(
            {"money": {"amounts.net": "1.00", "cost.net": "1.00 CNY"}},
            {"money": {"amounts.net": "1.00", "cost.net": "2.00 CNY", "credit.cr-1": CREDIT}},
            [(None, "cost.net", "1.00 CNY", "2.00 CNY"), ("p99", "credit", None, CREDIT)],
            id="charges, and a credit",
        ),
        pytest.param({}, {"money": {"amounts.net": "1.00"}}, [], id="money that nobody compared before"),
    ],
)
def test_what_differs(before, after, expected):
    assert brief(differences(some_figures(**before), some_figures(**after))) == expected


def ratios() -> st.SearchStrategy[float | None]:
    return st.none() | st.floats(min_value=0, max_value=1)


def figures() -> st.SearchStrategy[dict[str, Any]]:
    objective = st.fixed_dictionaries(
        {
            "name": st.sampled_from(["availability", "p99", "queue"]),
            "part": st.none() | st.fixed_dictionaries({"model": st.sampled_from("ab")}),
            "n": st.integers(0, 3),
            "violations": st.integers(0, 3),
            "value": ratios(),
            "verdict": st.sampled_from(VERDICTS),
            "verdict_without_exclusions": st.sampled_from(VERDICTS),
        }
    )
    return st.fixed_dictionaries(
        {
            "admitted": st.integers(0, 5),
            "coverage": st.fixed_dictionaries({name: ratios() for name in ("gateway", "engine", "joined")}),
            "rows_sha256": st.sampled_from(["aa", "bb"]),
            "versions": st.lists(
                st.fixed_dictionaries({"version_sha256": st.sampled_from("vw")}), max_size=2
            ),
            "objectives": st.lists(objective, max_size=4),
            "exclusions": st.dictionaries(
                st.sampled_from(["ex-1", "ex-2"]),
                st.fixed_dictionaries(
                    {"clause": st.just("exclusions.named"), "granted_seconds": st.integers(1, 3)}
                ),
            ),
        }
    )


@given(figures(), figures())
def test_what_is_another_revision_says_what_changed_and_back(before, after):
    there, back = differences(before, after), differences(after, before)
    # the order in which objectives stand is no figure
    if there:
        assert digest_of(before) != digest_of(after)
    else:
        assert sorted(map(repr, before["objectives"])) == sorted(map(repr, after["objectives"]))
        assert {**before, "objectives": []} == {**after, "objectives": []}
    turned = sorted(repr((each.objective, each.part, each.what, each.after, each.before)) for each in back)
    assert turned == sorted(
        repr((each.objective, each.part, each.what, each.before, each.after)) for each in there
    )


@given(figures())
def test_figures_survive_being_written(said):
    assert read_figures(written(said)) == said
    assert differences(said, read_figures(written(said))) == []


REASONS = [
    {"reason": name, "id": f"ex-{number}"}
    for number, name in enumerate(
        ("late_rows", "late_coverage", "exclusion", "exclusion", "contract_version", "program_version")
    )
]


@pytest.mark.parametrize(
    ("difference", "numbers"),
    [
        pytest.param(
            Difference(what="n", before=1, after=2, objective="p99"), [0, 1, 2, 3, 4, 5], id="a count"
        ),
        pytest.param(
            Difference(what="admitted", before=1, after=2), [0, 1, 4, 5], id="no exclusion adds requests"
        ),
        pytest.param(
            Difference(what="exclusion", before=None, after={"id": "ex-3"}),
            [3, 4],
            id="an exclusion by itself only",
        ),
        pytest.param(
            Difference(what="versions", before=[], after=[]), [4], id="a version by the contract only"
        ),
    ],
)
def test_which_reasons_could_have_moved_a_figure(difference, numbers):
    assert reasons_of(difference, REASONS) == [REASONS[number] for number in numbers]
