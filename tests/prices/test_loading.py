"""A price book's file becomes a value that says exactly what the file says; problems come all at once."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from billing.prices import load_price_book, parse_price_book
from billing.usage import Treatment
from fairclock.errors import PriceBookError
from tests.prices.factories import ABSENT, book_text, good_book, version

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/prices.yaml"
BAD = sorted(Path(__file__).parent.glob("bad/*.bad.yaml"))


@pytest.mark.parametrize("file", BAD, ids=lambda file: file.name.removesuffix(".bad.yaml"))
def test_a_bad_price_book_is_answered_with_every_problem(file):
    """The sentences stand in NAME.txt beside NAME.bad.yaml."""
    with pytest.raises(PriceBookError) as refusal:
        parse_price_book(file.read_bytes(), where=file.name)
    expected = file.with_name(file.name.replace(".bad.yaml", ".txt"))
    assert refusal.value.problems == expected.read_text().splitlines()


def test_the_shipped_example_says_what_it_says():
    book = load_price_book(EXAMPLE)
    (prices,) = book.versions
    assert prices.deployments.factors == {
        "shared": Decimal("1.0"),
        "dedicated": Decimal("3.2"),
        "edge": Decimal("2.1"),
    }
    assert prices.base_fee == Decimal("0.0002")
    assert prices.tax.rate == Fraction(6, 100)
    assert prices.token_prices("qwen3-32b").completion == Decimal("1.20")
    assert prices.token_prices("deepseek-v4").completion == Decimal("2.00")
    assert prices.machine_cost("NVIDIA H200 MIG 1g.18gb") == Decimal("0.0011")
    assert (prices.machine("NVIDIA H200").price, prices.machine_cost("NVIDIA H200")) == (0, Decimal("0.0061"))
    assert prices.deployment(tenant="bank", model="x", machine="") == "dedicated"
    assert prices.deployment(tenant="acme", model="x", machine="NVIDIA H200 MIG 1g.18gb") == "edge"
    assert prices.deployment(tenant="acme", model="x", machine="NVIDIA H200") == "shared"
    assert book.customer_of("acme").name.in_language("zh") == "阿克米金融有限公司"
    assert {each.length_class: each.per_call for each in book.ceilings} == {
        "short": Decimal("0.0015"),
        "medium": Decimal("0.0022"),
        "long": Decimal("0.0028"),
    }
    assert book.customer_of("nobody") is None
    assert (book.money.code, book.money.digits, book.money.rounding) == ("CNY", 2, "half_up")


@pytest.mark.parametrize("digits", ["0", "2", "3"])
def test_numbers_keep_the_digits_that_were_written(digits):
    """A float would make 0.1 of 0.1000000000000000055."""
    written = "123456789012345678.100000000000000001"
    book = good_book({"versions.0.base_fee": written, "currency.digits": digits})
    assert str(book.versions[0].base_fee) == written
    assert book.currency.digits == int(digits)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        pytest.param(
            {"versions.0.treatments.aborted": ABSENT},
            "versions[0].treatments.aborted",
            id="a treatment without a policy",
        ),
        pytest.param({"currency": "CNY"}, "currency", id="a currency without digits"),
        pytest.param(
            {"versions.0.tokens": ABSENT},
            "versions[0].models[0].tokens",
            id="tokens without a price anywhere",
        ),
        pytest.param({"versions.0.base_fee": "-1"}, "versions[0].base_fee", id="a price below zero"),
        pytest.param(
            {"versions.0.base_fee": "1_000"}, "versions[0].base_fee", id="a number with underscores"
        ),
        pytest.param(
            {"versions.0.deployments.factors.shared": "0"},
            "versions[0].deployments.factors.shared",
            id="a factor of zero",
        ),
        pytest.param(
            {"versions.1": version("v2", "2025-12-31")},
            "versions[1].from",
            id="a version before the one before it",
        ),
        pytest.param(
            {"versions.1": version("v1", "2026-06-01")}, "versions[1].name", id="a version's name twice"
        ),
        pytest.param({"versions.0.tax": ABSENT}, "versions[0].tax", id="no word of tax"),
        pytest.param(
            {"versions.0.minimum": {"per_month": "0"}},
            "versions[0].minimum.per_month",
            id="a minimum of nothing",
        ),
        pytest.param(
            {
                "versions.0.tiers": [
                    {"of": "tokens", "counted": "volume", "steps": [{"from": "0", "price": "1"}]}
                ]
            },
            "versions[0].tiers[0].steps[0].price",
            id="one price for three classes of tokens",
        ),
    ],
)
def test_what_changes_a_bill_is_never_guessed(changes, problem):
    with pytest.raises(PriceBookError) as refusal:
        good_book(changes)
    assert problem in [sentence.split(" (line")[0].split(": ")[0] for sentence in refusal.value.problems]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"- a", "this is not a price book"),
        (b"a: [", "not YAML"),
        (b"\xff\xfe", "UTF-16"),
        (b"a: \xff", "not UTF-8"),
    ],
)
def test_what_is_no_yaml_is_one_sentence(content, said):
    with pytest.raises(PriceBookError, match=said):
        parse_price_book(content)


def test_a_file_that_is_not_there_is_said_to_be(tmp_path):
    with pytest.raises(PriceBookError, match="no such file"):
        load_price_book(tmp_path / "none.yaml")
    with pytest.raises(PriceBookError, match="directory"):
        load_price_book(tmp_path)


def test_a_version_keeps_its_hash_when_another_one_follows():
    before = good_book().versions[0].sha256
    longer = good_book({"versions.1": version("v2", "2026-06-01")})
    assert longer.versions[0].sha256 == before
    assert longer.versions[1].sha256 != before
    assert good_book({"versions.0.base_fee": "0.6"}).versions[0].sha256 != before
    assert good_book({"currency.code": "USD"}).versions[0].sha256 != before


def test_completed_requests_are_charged_whole_and_probes_never():
    from billing.prices.clauses import Kind

    prices = good_book(
        {"versions.0.treatments.aborted": {"charge": ["tokens", "requests"], "share": "50%"}}
    ).versions[0]
    shares = {each: [prices.share(each, kind) for kind in Kind] for each in Treatment}
    half = Fraction(1, 2)
    assert shares == {
        Treatment.COMPLETED: [1, 1, 1, 1, 1],
        Treatment.PROBE: [0, 0, 0, 0, 0],
        Treatment.ABORTED: [half, half, half, half, 0],
        Treatment.INCOMPLETE: [0, 0, 0, 0, 0],
        Treatment.REFUSED: [0, 0, 0, 0, 0],
        Treatment.RETRIED: [0, 0, 0, 0, 0],
    }


def test_the_file_hash_is_that_of_the_bytes():
    import hashlib

    text = book_text()
    assert parse_price_book(text).file_sha256 == hashlib.sha256(text.encode()).hexdigest()
