"""The published JSON Schema is the one of this version, and agrees with what the program reads."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from sla.contracts import examine
from sla.contracts.schema import contract_schema
from tests.contracts.factories import ABSENT, contract_text

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples/contracts").glob("*.yaml"))


class _AsEditorsRead(yaml.SafeLoader):
    """YAML as editors and YAML 1.2 read it: numbers and booleans, but dates are texts."""


_AsEditorsRead.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith("timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
VALIDATOR = jsonschema.Draft202012Validator(contract_schema())


def schema_errors(text):
    document = yaml.load(text, Loader=_AsEditorsRead)
    return [error.json_path for error in VALIDATOR.iter_errors(document)]


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(contract_schema())


def test_the_published_schema_is_the_one_of_this_version():
    """Write it anew with: fairclock contract schema > docs/contract.schema.json."""
    assert json.loads((ROOT / "docs/contract.schema.json").read_text()) == contract_schema()


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_the_shipped_examples_meet_the_schema(file):
    assert schema_errors(file.read_text()) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "Agreement"},
        {"retries": {"with_backoff": {"from": "1s", "to": "32s"}}},
        {"evaluate_per": "none"},
        {"evaluate_per": ["model", "region"]},
        {"objectives.0.where": {"prompt_tokens": "long_context", "models": "a", "inference_mode": ["fp16"]}},
        {"term.time_zone": "+08:00"},
        {"expected_requests_per_month": 1000, "objectives.0.latency.percentile": 99.9},
    ],
    ids=str,
)
def test_what_the_program_reads_meets_the_schema(changes):
    text = contract_text(changes)
    assert examine(text).problems == ()
    assert schema_errors(text) == []


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"titel": "x"}, "$"),
        ({"clock": ABSENT}, "$"),
        ({"clock.start": "sent"}, "$.clock.start"),
        ({"objectives.0.latency.at_most": "2"}, "$.objectives[0]"),
        ({"objectives.1.availability.target": "99.9"}, "$.objectives[1]"),
        ({"term.from": "01.01.2026"}, "$.term.from"),
        ({"calendar.peak.0.to": "9:30"}, "$.calendar.peak[0].to"),
        ({"id": "a b"}, "$.id"),
        ({"quota": None}, "$.quota"),
    ],
    ids=str,
)
def test_what_the_program_refuses_in_form_the_schema_refuses_too(changes, path):
    text = contract_text(changes)
    assert examine(text).problems
    assert schema_errors(text) == [path]


def _keys(schema):
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from _keys(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _keys(value)


def test_the_reference_explains_every_key():
    reference = (ROOT / "docs/contract-reference.md").read_text()
    assert [key for key in sorted(set(_keys(contract_schema()))) if f"`{key}`" not in reference] == []


def test_the_reference_names_every_choice():
    reference = (ROOT / "docs/contract-reference.md").read_text()
    choices = {choice for choice in _choices(contract_schema()) if isinstance(choice, str)}
    assert len(choices) > 60
    assert [choice for choice in sorted(choices) if f"`{choice}`" not in reference] == []


def _choices(schema):
    if isinstance(schema, dict):
        yield from schema.get("enum", [])
        yield from [schema["const"]] if "const" in schema else []
        for value in schema.values():
            yield from _choices(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _choices(value)


def test_the_reference_names_every_rule_of_lint():
    reference = (ROOT / "docs/contract-reference.md").read_text()
    sources = "".join(file.read_text() for file in (ROOT / "sla/contracts/lint").glob("*.py"))
    rules = set(re.findall(r'rule="([a-z0-9-]+)"', sources)) | {"malformed", "unanswered", "no-clock-start"}
    assert len(rules) >= 18
    assert [rule for rule in sorted(rules) if f"`{rule}`" not in reference] == []
