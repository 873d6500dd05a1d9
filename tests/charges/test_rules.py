"""Every pricing rule by one runner: cases/RULE.yaml holds usage, what is changed of the good book, and what is charged."""

from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from billing.charges import charge, closing
from tests.charges.factories import usage
from tests.prices.factories import good_book

FILES = sorted(Path(__file__).parent.glob("cases/*.yaml"))
CASES = [
    pytest.param(case, id=f"{file.stem}: {case['id']}")
    for file in FILES
    for case in yaml.safe_load(file.read_text())
]


def _shown(each):
    return {
        "kind": each.name,
        "quantity": each.quantity,
        "unit": each.unit_name,
        "unit_price": Fraction(each.unit_price),
        "amount": each.amount,
    }


def _expected(case):
    numbers = {"quantity", "unit_price", "amount", "count"}
    return {key: Fraction(value) if key in numbers else value for key, value in case.items()}


@pytest.mark.parametrize("case", CASES)
def test_a_rule(case):
    book = good_book(case.get("book"))
    usages = [usage(**each) for each in case["usages"]]
    assert "charges" in case or "adjustments" in case
    if "charges" in case:
        found = [_shown(each) for one in usages for each in charge(one, book.version_at(one.start))]
        assert found == [_expected(each) for each in case["charges"]]
    if "adjustments" in case:
        adjusted = closing(usages, book, book.month("2026-10"), tenant="acme")
        assert [
            {"subject": each.subject, "count": each.count, "amount": each.amount} for each in adjusted
        ] == [_expected(each) for each in case["adjustments"]]


def test_every_rule_has_its_cases():
    rules = Path(__file__).parents[2] / "billing/charges/rules"
    modules = {file.stem.replace("_", "-") for file in rules.glob("*.py")} - {"--init--", "steps"}
    assert {file.stem for file in FILES} == modules
