"""The published schema accepts what the program accepts."""

import json
from pathlib import Path

import jsonschema
import yaml

from billing.prices import price_book_schema

ROOT = Path(__file__).parents[2]


def test_the_published_schema_is_the_current_one():
    """Write it anew with: python -m tests.prices.write_schema."""
    assert json.loads((ROOT / "docs/price-book.schema.json").read_text()) == price_book_schema()


def test_the_example_is_valid_for_an_editor_that_reads_yaml_its_own_way():
    tree = yaml.load((ROOT / "examples/prices.yaml").read_text(), Loader=yaml.BaseLoader)
    jsonschema.Draft202012Validator.check_schema(price_book_schema())
    jsonschema.validate(tree, price_book_schema())


def test_unknown_keys_are_no_part_of_it():
    tree = yaml.load((ROOT / "examples/prices.yaml").read_text(), Loader=yaml.BaseLoader)
    tree["discount"] = "100%"
    validator = jsonschema.Draft202012Validator(price_book_schema())
    assert [error.validator for error in validator.iter_errors(tree)] == ["additionalProperties"]
