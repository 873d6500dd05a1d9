"""One rich month in a real store, with its ledger and credits, and the bundle of its draft; made once for all modules here."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from billing.bookkeeping.credits import keep_computed, step
from billing.bookkeeping.price_books import BookPrices, keep_versions
from billing.bookkeeping.rating import rate
from billing.credits import CreditState
from billing.prices.loading import load_price_book
from billing.usage import Treatment
from fairclock import __version__
from fairclock.model.sightings import Source
from fairclock.store import open_store
from fairclock.store.probe_sightings import keep_reconciled
from fairclock.store.probes import keep_probes
from sla.contracts.versions import load_versions
from sla.evaluation import computed_credits, evaluate
from sla.issuing.reports import issue
from sla.revisions import keep_revision
from tests.ledger.factories import a_usage
from tests.made_once import copy_of_made
from tests.reconciliation.factories import a_probe, reconciled
from tests.scripted.commands import done
from tests.scripted.language import read_script
from tests.scripted.playing import Play

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import ModuleType

    from fairclock.store import Store
    from sla.contracts import Contract

FOLDER = Path(__file__).parent
PROGRAM = FOLDER.parents[1] / "sla" / "bundle" / "verify.py"
MONTH = "2026-10"
BOOK = BookPrices(load_price_book(FOLDER.parent / "ledger" / "prices.yaml"))


@dataclass
class RichMonth:
    """Where a month was played, the contract's file, and the bundle of the month's draft with its report."""

    dsn: str
    path: Path
    folder: Path
    report: dict[str, Any]

    @property
    def versions(self) -> list[Contract]:
        return load_versions(self.path)

    @property
    def as_of(self) -> datetime:
        return datetime.fromisoformat(self.report["as_of"])


@pytest.fixture(scope="session")
def verify() -> ModuleType:
    """The program as it is shipped, loaded from its file and from nowhere else."""
    spec = importlib.util.spec_from_file_location("bundle_verify", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bundle_verify"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> RichMonth:
    """The month, played once; its store is closed again, since a process holds one folder at a time."""
    folder = copy_of_made(tmp_path_factory, "rich", _play)
    (bundle,) = folder.glob("*-bundle")
    return RichMonth(
        dsn=f"chdb://{folder / 'store'}",
        path=folder / "play" / "contracts" / "1.yaml",
        folder=bundle,
        report=json.loads((bundle / "report.json").read_bytes()),
    )


def _play(folder: Path) -> None:
    """Play the month in a new store in `folder`, rate and claim and reconcile, and write the bundle of its draft there."""
    path = folder / "play"
    path.mkdir()
    with open_store(f"chdb://{folder / 'store'}") as store:
        play = Play(path=FOLDER / "month.script", store=store, folder=path)
        play.run(read_script(FOLDER / "month.script", (FOLDER / "month.script").read_text(encoding="utf-8")))
        contract = path / "contracts" / "1.yaml"
        _rate(store)
        _claim(store, contract)
        _reconcile(store)
        done(store, "reports", "bundle", contract, "--month", MONTH, "-o", folder)


@pytest.fixture(scope="module")
def store(bundled: RichMonth) -> Generator[Store]:
    with open_store(bundled.dsn) as opened:
        yield opened


def issued_now(store: Store, path: Path) -> Any:
    """Issue the month's report as it is now."""
    return issue(
        store,
        load_versions(path),
        month=MONTH,
        as_of=None,
        now=datetime(2026, 12, 1, tzinfo=UTC),
        software_version=__version__,
    )


def _rate(store: Store) -> None:
    start = datetime(2026, 10, 8, 2, tzinfo=UTC)
    hour = {"start": start, "end": start + timedelta(hours=1), "hour": start, "machine": ""}
    keep_versions(store, BOOK.book, until=datetime(2026, 10, 31, tzinfo=UTC))
    usages = [
        a_usage(**hour, requests=1_000, completion_tokens=5_000_000, gpu_picoseconds=0),
        a_usage(**hour, requests=7, inference_mode="int8", length_class="long", gpu_picoseconds=0),
        a_usage(**hour, requests=5, treatment=Treatment.INCOMPLETE),
        a_usage(**hour, requests=3, model="qwen3", treatment=Treatment.RETRIED),
    ]
    october = BOOK.months.interval(MONTH)
    rate(store, lambda _: usages, october, as_of=store.watermark(), prices=BOOK, months=BOOK.months)
    # some of it is taken back and made anew
    rate(
        store,
        lambda _: [*usages[:-1], a_usage(**hour, requests=4, model="qwen3")],
        october,
        as_of=store.watermark(),
        prices=BOOK,
        months=BOOK.months,
    )


def _reconcile(store: Store) -> None:
    """Let probes have been answered and seen: by some clocks that are apart, one that moved, and not by all sources."""
    keep_probes(store, [a_probe(number) for number in range(9)])
    ahead = {Source.SPAN: 240_000_000, Source.CLIENT: -5_000}
    found = [
        reconciled(
            number,
            ahead_us={**ahead, Source.TRUTH: number * 1_000_000},
            without=(Source.PLUGIN,) if number % 4 == 0 else (),
        )
        for number in range(9)
    ]
    keep_reconciled(store, found)


def _claim(store: Store, path: Path) -> None:
    """Keep a revision and its credits, and let the customer claim one of them."""
    versions = load_versions(path)
    keep_revision(store, evaluate(store, versions, month=MONTH, software_version=__version__), inputs="")
    computed = computed_credits(store, versions, month=MONTH)
    kept = keep_computed(store, computed, contract=versions[-1].id, month=MONTH)
    step(
        store, kept[0].id, CreditState.CLAIMED, author="Zhang", now=kept[0].opens_at,
        decide_within=timedelta(days=30),
    )  # fmt: skip
