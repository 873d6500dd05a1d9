"""Own ``fairclock up``: everything in one process."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from fairclock.cli.options import common_options, store_dsn
from fairclock.cli.pipeline.collecting import receives_syslog, scrapes
from fairclock.cli.pipeline.looked import Looked
from fairclock.cli.pipeline.memory import spare_what_stays
from fairclock.cli.pipeline.passes import Passes
from fairclock.cli.pipeline.running import running
from fairclock.cli.pipeline.sealing import SealStep
from fairclock.cli.serving import announce, collecting_options, settings_of, stop_signal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fairclock.cli.configuration import Configuration
    from fairclock.cli.pipeline.contracts import FollowedContracts
    from fairclock.cli.pipeline.parts import Pipeline
    from fairclock.cli.pipeline.prices import FollowedPrices
    from fairclock.cli.pipeline.rating import RatingStep
    from fairclock.cli.pipeline.reconciling import ReconcileStep
    from fairclock.store import Store

_SEAL_EVERY_SECONDS = 60.0
_COUNT_EVERY_SECONDS = 5.0
_OFF = "off"


@click.command("up", short_help="Everything in one process.")
@common_options
@collecting_options
@click.option(
    "--listen",
    "http__address",
    metavar="HOST:PORT",
    default=None,
    envvar="FAIRCLOCK_LISTEN",
    show_envvar=True,
    help="Where the console, frames of sidecars, /healthz, /readyz and /metrics are answered, or off (default: 127.0.0.1:8780).",
)
@click.option(
    "--demo-gpu",
    "gpu__source",
    flag_value="demo",
    default=None,
    help="Invent GPUs, marked as simulated, to try dashboards with.",
)
def command(*, dsn: str | None, config: Path | None, quiet: bool, debug: bool, **flags: Any) -> None:
    """Hold the store, collect, take what sidecars forward, seal and count what changed, until SIGINT or SIGTERM.

    The contracts under sla.contracts are counted minute by minute, every few seconds; by the price book billing.prices the ledger
    is rated every billing.rate_every. The console shows both.
    Beside it, every other command works on the same store.
    """
    del debug
    settings = settings_of(config, flags, quiet=quiet)
    contracts = _contracts(settings)
    prices = _prices(settings)
    with (
        stop_signal() as stop,
        running(
            settings,
            collectors=_configured(settings),
            dsn=store_dsn(dsn, config),
            takes_frames=True,
            looked=_looked(contracts, prices),
        ) as pipeline,
    ):
        announce(pipeline.announcements, settings, quiet=quiet)
        link = pipeline.link
        assert link is not None  # noqa: S101 - `up` has a store
        passes = _passes(link.open, contracts, settings, pipeline, prices=prices)
        pipeline.evaluator_figures = passes.figures
        if pipeline.tracer is not None:
            passes.trace_with(pipeline.tracer)
        spare_what_stays()
        while not pipeline.wait(stop, _COUNT_EVERY_SECONDS if contracts or prices else _SEAL_EVERY_SECONDS):
            if link.current is not None:
                passes.run(datetime.now(UTC), stop)


def _configured(settings: Configuration) -> list[str]:
    """Return the collectors that have something to collect from."""
    found = []
    if settings.gateway.files or receives_syslog(settings.gateway):
        found.append("gateway")
    if not settings.otlp.grpc == settings.otlp.http == _OFF:
        found.append("otlp")
    if scrapes(settings.vllm):
        found.append("vllm")
    if settings.gpu.source != _OFF:
        found.append("gpu")
    return found


def _contracts(settings: Configuration) -> FollowedContracts | None:
    """Return the configured contracts; a wrong one keeps `up` from starting, so that nothing goes unjudged."""
    if not settings.sla.contracts:
        return None
    from fairclock.cli.pipeline.contracts import FollowedContracts  # noqa: PLC0415 - only where there are contracts

    return FollowedContracts.reading(settings.sla.contracts)


def _prices(settings: Configuration) -> FollowedPrices | None:
    """Return the configured price book; a wrong one keeps `up` from starting. None where there is none."""
    if settings.billing.prices is None:
        return None
    from fairclock.cli.pipeline.prices import FollowedPrices  # noqa: PLC0415 - only where there are prices

    return FollowedPrices.reading(settings.billing.prices)


def _looked(contracts: FollowedContracts | None, prices: FollowedPrices | None) -> Looked:
    """Return what the console looks at."""
    return Looked(
        contracts=lambda: [] if contracts is None else contracts.current,
        prices=lambda: None if prices is None else prices.book,
    )


def _passes(
    store: Callable[[], Store],
    contracts: FollowedContracts | None,
    settings: Configuration,
    pipeline: Pipeline,
    *,
    prices: FollowedPrices | None,
) -> Passes:
    rating = None if prices is None else _rating(store, settings, prices)
    reconciling = _reconciling(store, settings)
    if contracts is None:
        passes = Passes()
        passes.add("seals", SealStep(store))
        if reconciling is not None:
            passes.add("reconciliation", reconciling)
        if rating is not None:
            passes.add("prices", rating.prices)
            passes.add("rating", rating)
        return passes
    from fairclock.cli.pipeline.alerting import watching  # noqa: PLC0415 - only where there are contracts
    from fairclock.cli.pipeline.evaluator import evaluator  # noqa: PLC0415
    from fairclock.cli.pipeline.seal_deliveries import sending_seals  # noqa: PLC0415

    watched = prices if settings.sla.alerts.cost.enabled else None
    return evaluator(
        store,
        contracts,
        lambda versions: watching(settings.sla.alerts, store, pipeline, versions, prices=watched),
        seal_deliveries=sending_seals(settings, store),
        rating=rating,
        reconciling=reconciling,
    )


def _reconciling(store: Callable[[], Store], settings: Configuration) -> ReconcileStep | None:
    """Return the step that holds probes against what was said of them; None where it is switched off."""
    if not settings.probe.reconcile.enabled:
        return None
    from fairclock.cli.pipeline.reconciling import ReconcileStep  # noqa: PLC0415 - only where it is done

    return ReconcileStep(store, settings.probe.reconcile, settings.billing.gpu_time.probe_tenants)


def _rating(store: Callable[[], Store], settings: Configuration, prices: FollowedPrices) -> RatingStep:
    from fairclock.cli.pipeline.rating import RatingStep  # noqa: PLC0415 - only where there are prices

    return RatingStep(
        store=store,
        prices=prices,
        settings=settings.billing.cost_book(),
        every=timedelta(seconds=settings.billing.rate_every),
    )
