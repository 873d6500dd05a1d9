"""Own what every test run shares: Hypothesis profiles, the order of files, and the rule that CI skips nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from tests.deployment.composition import Composition
    from tests.live.life import Life

# Deadlines measure the machine, not the code: two cores are shared with an engine and its merges.
settings.register_profile(
    "test", deadline=None, max_examples=50, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", settings.get_profile("test"), max_examples=2_000)
settings.load_profile(os.environ.get("FAIRCLOCK_HYPOTHESIS", "test"))

# Every vLLM that a test starts has its worker in its engine's process, on one thread: a process less that takes ten seconds to
# import torch, and none that spins while it waits for another. A tiny model is no faster with more.
for name, value in (("VLLM_ENABLE_V1_MULTIPROCESSING", "0"), ("OMP_NUM_THREADS", "1")):
    os.environ.setdefault(name, value)

# A file is one worker's. Those that take longest come first, so that none is left to a single worker at the end.
LONGEST_FIRST = (
    "faults/test_misbehaving_server.py",
    "demo/test_demo.py",
    "faults/test_kills.py",
    "acceptance/test_report_equals_oracle.py",
    "scripted/test_scripted_months.py",
    "sidecar/test_processes.py",
    "reports/test_command.py",
    "alert_engine/test_engine.py",
    "probe_service/test_service.py",
    "revisions/test_revisions_in_the_store.py",
    "incidents/test_noticing.py",
    "incidents/test_evidence.py",
    "gateways/test_in_the_store.py",
    "bundle/test_writing.py",
    "acceptance/test_wrong_input.py",
    "acceptance/test_store_neighbours.py",
    "usage/test_usage.py",
    "alert_engine/test_kills.py",
    "ledger/test_late_rows.py",
    "ledger/test_rating_step.py",
    "ledger/test_command.py",
    "store/test_front.py",
    "acceptance/test_replays.py",
    "cost_book/test_reconciliation.py",
    "store/test_joining.py",
    "issuing/test_issuing.py",
    "cost_book/test_cost_book.py",
    "store/test_normalising.py",
    "faults/test_insert_tokens.py",
    "issuing/test_day_seals.py",
    "slices/test_evaluate_command.py",
    "evaluation/test_intervals.py",
    "ledger/test_concurrent_raters.py",
    "cli_ingest/test_long_running_commands.py",
    "engine_lives/test_cold_starts.py",
    "gpu/test_command.py",
    "exposition/test_in_the_store.py",
    "evaluation/test_stored_requests.py",
    "reports/test_appearance.py",
    "slices/test_slices.py",
    "doctor/test_doctor_command.py",
    "store/test_keeping.py",
    "evaluation/test_once.py",
    "privacy/test_secrets.py",
    "alert_engine/test_up.py",
    "evaluation/test_against_oracle.py",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of LONGEST_FIRST at the beginning; what stands in a file keeps its order."""
    folder = Path(__file__).parent
    places = {folder / name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.fixture(scope="session")
def composition(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composition]:
    """docker-compose.yml as plain processes, with its engine running: a start takes a minute, so there is one for all."""
    from tests.deployment.composition import Composition

    folder = tmp_path_factory.mktemp("composition")
    store = (
        f"chdb://{folder}/store"  # in place of the one service that cannot be had as a process, ClickHouse
    )
    made = Composition(folder, changed={"fairclock_dsn": store, "fairclock_owner_dsn": store})
    made.run("model")
    with made.running("vllm-cpu"):
        yield made


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin's wheel, unpacked as an installer would: modules, and the metadata by which vLLM finds it."""
    project = Path(__file__).parents[1] / "inference_probe" / "plugin"
    built, installed = tmp_path_factory.mktemp("built"), tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    return installed


@pytest.fixture(scope="session")
def data_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """XDG_DATA_HOME of whatever serves the tiny model: the first makes it, the others find it."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="session")
def engine_life(tmp_path_factory: pytest.TempPathFactory, data_home: Path, plugin: Path) -> Life:
    """A real vLLM with two places from its start to its end, asked 300 probes and what the live demonstration asks."""
    from tests.live.life import live

    return live(tmp_path_factory.mktemp("life"), model=data_home / "fairclock" / "tiny-model", plugin=plugin)


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
