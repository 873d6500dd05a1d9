"""Own what every test run shares: Hypothesis profiles, and the rule that CI skips nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Generator

# Deadlines measure the machine, not the code: two cores are shared with an engine and its merges.
settings.register_profile(
    "test", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", settings.get_profile("test"), max_examples=2_000)
settings.load_profile(os.environ.get("FAIRCLOCK_HYPOTHESIS", "test"))


def _in_ci() -> bool:
    return os.environ.get("CI", "") not in ("", "0", "false")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure in CI; an expected failure stays one."""
    del call
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and _in_ci():
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, and in CI nothing may be: {_reason(report)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn the skip of a whole module into a failure in CI."""
    report = yield
    if report.skipped and _in_ci():
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} was skipped, and in CI nothing may be: {_reason(report)}"
    return report


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    where = report.longrepr
    return where[2] if isinstance(where, tuple) else str(where)
