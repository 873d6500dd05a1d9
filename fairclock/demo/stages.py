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
from fairclock.demo.billing import CREDITED_CONTRACT, bill, grant_credits, write_billing, write_invoices
from fairclock.demo.exclusions import say_exclusions
from fairclock.demo.issuing import ISSUED_CONTRACT, issue_signed
from fairclock.documents.fonts import describe
from fairclock.store import IngestCounts, open_store
from sla.bundle import write_bundle
from sla.contracts import load_contract
from sla.evaluation import evaluate
from sla.reports import FORMATS, LANGUAGES, write_reports
from sla.revisions import with_revision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from fairclock.demo.billing import Billed
    from fairclock.demo.month import Month
    from fairclock.demo.simulate import Simulated
    from fairclock.demo.workspace import Workspace
    from fairclock.store import Store
    from sla.contracts import Contract

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
    exclusions: int
    issued: tuple[Path, ...]  # the bytes of the issued report, and its signature
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
    """Let `simulation` write its logs, and take them through collectors, store, ledger, evaluation and reports.

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
        contracts = {path.stem: load_contract(path) for path in simulated.contracts}
        with stopwatch.stage("enter exclusions"):
            exclusions = say_exclusions(store, contracts.items(), month=simulated.month, now=now)
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
        with stopwatch.stage("grant a credit"):
            credited = _credited(store, contracts, prices=prices, month=simulated.month, now=now)
        # pages need none of the store: another process makes them while the next report is evaluated
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as beside:
            writing = [beside.submit(write_invoices, (*billed.statements, *credited), workspace.invoices)]
            reports: list[dict[str, Any]] = []
            issued: tuple[Path, ...] = ()
            with stopwatch.stage("evaluate and issue"):
                for name, contract in contracts.items():
                    report: dict[str, Any]
                    if name == ISSUED_CONTRACT:
                        made = issue_signed(
                            store, contract, month=simulated.month.name, folder=workspace.issued
                        )
                        report, issued = made.report, made.files
                    else:
                        report = _evaluated(store, contract, simulated.month.name)
                    reports.append(report)
                    writing.append(beside.submit(_written, report, workspace.reports))
            with stopwatch.stage("write a bundle"):
                first = next(iter(contracts.values()))
                bundle = _bundled(store, first, reports[0], workspace.bundles)
            with stopwatch.stage("write reports and invoices"):
                invoices, *written = (each.result() for each in writing)
    return Demonstration(
        simulated=simulated,
        gateway=gateway,
        engine=engine,
        hours_sealed=hours,
        reports=tuple(reports),
        files=tuple(path for paths in written for path in paths),
        exclusions=exclusions,
        issued=issued,
        billed=billed,
        invoices=tuple(invoices),
        bundle=bundle,
        stages=tuple(stopwatch.stages),
    )


def _credited(
    store: Store, contracts: Mapping[str, Contract], *, prices: Path, month: Month, now: datetime
) -> tuple[Mapping[str, Any], ...]:
    contract = contracts.get(CREDITED_CONTRACT)
    return () if contract is None else grant_credits(store, contract, prices=prices, month=month, now=now)


def _evaluated(store: Store, contract: Contract, month: str) -> dict[str, Any]:
    report = evaluate(
        store,
        contract,
        month=month,
        as_of=store.watermark(),
        software_version=__version__,
        fonts=describe(),
    )
    return with_revision(store, report)


def _bundled(store: Store, contract: Contract, report: Mapping[str, Any], directory: Path) -> Path:
    """Write the bundle of one report; the others' would say the same of other tenants."""
    known = datetime.fromisoformat(str(report["as_of"]))
    return write_bundle(store, [contract], report, directory, as_of=known)


def _written(report: dict[str, Any], directory: Path) -> list[Path]:
    return write_reports(report, formats=FORMATS, languages=LANGUAGES, directory=directory)
