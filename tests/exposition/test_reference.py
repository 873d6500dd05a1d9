"""The page on metrics says what the program publishes, and the benchmark's target is met by what is rendered."""

from __future__ import annotations

import re
from pathlib import Path

from exporters.prometheus.aliases import ALIAS_OF
from fairclock.cli.pipeline.metrics.reference import groups, page

ROOT = Path(__file__).parents[2]
ALL = [each for group in groups() for each in group.families]


def test_the_page_is_that_of_the_program():
    """Write it anew with: python docs/make_metrics.py."""
    assert (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8") == page()


def test_names_are_as_prometheus_wants_them_and_each_is_there_once():
    names = [each.name for each in ALL]
    assert len(names) == len(set(names))
    for each in ALL:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", each.name)
        assert each.name.endswith("_total") == (each.kind == "counter")
        assert each.name.startswith("fairclock_") or each.name in ALIAS_OF
        assert each.about.endswith(".")


def test_every_name_stands_in_the_program():
    """What the page lists by hand is somewhere published; the integration test holds what is published against it."""
    text = "\n".join(
        path.read_text(encoding="utf-8")
        for package in ("fairclock", "sla", "exporters")
        for path in (ROOT / package).rglob("*.py")
        if path.name != "reference.py"
    )
    missing = [
        each.name
        for each in ALL
        if each.name.removesuffix("_total") not in text
        and each.name.removesuffix("_total").removeprefix("fairclock_") not in text
    ]
    assert not missing
