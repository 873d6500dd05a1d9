"""Own the demonstration from simulated logs to reports, stage by stage, with the time each took."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from collectors.gateway.files import ingest_gateway_files
from collectors.otlp.files import ingest_otlp_files
from fairclock import __version__
from fairclock.demo.billing import bill, write_billing, write_invoices
from fairclock.documents.fonts import describe
from fairclock.store import IngestCounts, open_store
from sla.bundle import write_bundle
from sla.contracts import load_contract
from sla.evaluation import evaluate
from sla.reports import FORMATS, LANGUAGES, write_reports
from sla.revisions import with_revision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fairclock.demo.billing import Billed
    from fairclock.demo.simulate import Simulated
    from fairclock.demo.workspace import Workspace
    from fairclock.store import Store

SOURCE = "demo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One thing that was done, and how long it took."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """What a demonstration found and wrote."""

    simulated: Simulated
    gateway: IngestCounts
    engine: IngestCounts
    hours_sealed: int
    reports: tuple[dict[str, Any], ...]  # report.json of each contract
    files: tuple[Path, ...]
    billed: Billed
    invoices: tuple[Path, ...]
    bundle: Path
    stages: tuple[Stage, ...]


@dataclass(slots=True, kw_only=True)
class Stopwatch:
    """Announces stages and times them; `clock` counts seconds from any instant."""

    clock: Callable[[], float]
    announce: Callable[[str], None]
    stages: list[Stage] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what is done inside."""
        self.announce(name)
        began = self.clock()
        yield
        self.stages.append(Stage(name=name, seconds=self.clock() - began))


def demonstrate(
    *,
    workspace: Workspace,
    simulation: Callable[[Path], Simulated],
    stopwatch: Stopwatch,
    now: datetime,
) -> Demonstration:
    """Let `simulation` write its logs, and take them through collectors, store, evaluation, ledger and reports.

    A month that is over by `now` is closed for good.
    """
    with stopwatch.stage("simulate"):
        simulated = simulation(workspace.root)
    with open_store(f"chdb://{workspace.store}") as store:
        month = simulated.month.interval
        with stopwatch.stage("ingest gateway"):
            gateway = ingest_gateway_files(
                store,
                [str(path) for path in simulated.gateway_files],
                source=SOURCE,
                covers=month,
                progress=None,
            )
        with stopwatch.stage("ingest spans"):
            engine = ingest_otlp_files(
                store,
                [str(path) for path in simulated.engine_files],
                source=SOURCE,
                covers=month,
                progress=None,
            )
        with stopwatch.stage("join and seal"):
            hours = store.seal()
        with stopwatch.stage("evaluate"):
            reports = [_evaluated(store, path, simulated.month.name) for path in simulated.contracts]
        # pages take as long as the ledger and need none of the store: another process makes them meanwhile
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as beside:
            writing = beside.submit(_written, reports, workspace.reports)
            with stopwatch.stage("rate, close and verify"):
                prices = write_billing(
                    month=simulated.month,
                    engines=simulated.engines,
                    folder=workspace.billing,
                    store=workspace.store,
                )
                billed = bill(
                    store,
                    prices=prices,
                    month=simulated.month,
                    requests=simulated.requests,
                    engines=simulated.engines,
                    now=now,
                )
            with stopwatch.stage("write invoices"):
                invoices = write_invoices(billed.statements, workspace.invoices)
            with stopwatch.stage("write a bundle"):
                bundle = _bundled(store, simulated.contracts[0], reports[0], workspace.bundles)
            with stopwatch.stage("write reports"):
                files = writing.result()
    return Demonstration(
        simulated=simulated,
        gateway=gateway,
        engine=engine,
        hours_sealed=hours,
        reports=tuple(reports),
        files=tuple(files),
        billed=billed,
        invoices=tuple(invoices),
        bundle=bundle,
        stages=tuple(stopwatch.stages),
    )


def _evaluated(store: Store, contract: Path, month: str) -> dict[str, Any]:
    report = evaluate(
        store,
        load_contract(contract),
        month=month,
        as_of=store.watermark(),
        software_version=__version__,
        fonts=describe(),
    )
    return with_revision(store, report)


def _bundled(store: Store, contract: Path, report: dict[str, Any], directory: Path) -> Path:
    """Write the bundle of one report; the others' would say the same of other tenants."""
    known = datetime.fromisoformat(str(report["as_of"]))
    return write_bundle(store, [load_contract(contract)], report, directory, as_of=known)


def _written(reports: list[dict[str, Any]], directory: Path) -> list[Path]:
    return [
        path
        for report in reports
        for path in write_reports(report, formats=FORMATS, languages=LANGUAGES, directory=directory)
    ]
