"""Own a tenant's page: one contract's figures in a range, by the report's parts; of a whole month the report's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.console.readings import from_report
from fairclock.console.readings.alerts import firing_alerts
from fairclock.console.readings.burning import burn_downs, burns_of, key_of, recent_sums, shares_of
from fairclock.console.readings.latencies import latency_points
from fairclock.console.readings.models.base import Anchor, Basis, Lack, RangeName
from fairclock.console.readings.models.figures import GaugePoint, GaugeSeries
from fairclock.console.readings.models.tenant import TenantContract, TenantPage
from fairclock.console.readings.overview import title_of
from fairclock.console.readings.ranged import ranged, source_of
from fairclock.console.readings.ranges import elapsed_of, interval_of, months_of, resolved
from fairclock.errors import NotShown
from fairclock.model import from_us
from fairclock.store.engine_gauges import engine_gauges
from fairclock.store.issued_reports import issued_rows
from sla.contracts.versions import version_in_force

if TYPE_CHECKING:
    from fairclock.console.readings.models.base import Range
    from fairclock.console.readings.models.figures import BudgetFigures, LatencyPoint
    from fairclock.console.readings.protocol import Wanted
    from fairclock.console.readings.view import Versions, View

_UNITS = {"waiting": "requests", "running": "requests", "kv_cache": "ratio"}


def tenant_page(view: View, tenant: str, wanted: Wanted, *, contract: str | None = None) -> TenantPage:
    """Return the page of `tenant` by `contract`, else by the first that judges it."""
    mine = view.of_tenant(tenant)
    chosen = next((each for each in mine if contract is None or each[0].id == contract), None)
    if contract is not None and chosen is None:
        raise NotShown("contract", "there is none of that id here", remedy="leave it out")
    shown = resolved(wanted, view.as_of, chosen or ())
    if chosen is None:
        return _without_contract(view, tenant, shown)
    sections, basis, revision = _sections(view, chosen, shown)
    measured = view.measured(Anchor.CLOCKS, basis, revision=revision)
    if sections is not None and "as_of" in sections:
        measured = measured.model_copy(update={"as_of": from_report.instant(sections["as_of"])})
    lacking: list[Lack] = []
    if sections is None:
        lacking.append(Lack.NOT_EVALUATED_YET)
    if shown.name is not RangeName.MONTH:
        lacking.append(Lack.ONLY_WHOLE_MONTHS)
    if not view.caller.sees_all:
        lacking.append(Lack.NOT_FOR_TENANTS)
    contract_id = chosen[0].id
    given: dict[str, Any] = sections or {}
    return TenantPage(
        range=shown,
        as_of=view.as_of,
        lacking=tuple(lacking),
        tenant=tenant,
        contract=contract_id,
        contracts=tuple(_choice(view, each) for each in mine),
        clocks=from_report.clocks_of(given) if given else (),
        clocks_measured=measured,
        phases=from_report.phases_of(given) if given else (),
        latency=_latency(view, chosen, shown),
        traffic=from_report.traffic_of(given, measured) if given else None,
        coverage=from_report.coverage_of(given, measured) if given else None,
        promises=from_report.promises_of(
            contract_id, given, measured, is_issued=_is_issued(view, contract_id, shown)
        )
        if given
        else (),
        budgets=_with_burns(view, chosen, from_report.budgets_of(contract_id, given, measured))
        if given
        else (),
        burn_downs=burn_downs(view, chosen, elapsed_of(shown)),
        gauges=_gauges(view, shown) if view.caller.sees_all else (),
        alerts=tuple(each for each in firing_alerts(view) if each.contract == contract_id),
    )


def _is_issued(view: View, contract: str, shown: Range) -> bool:
    """Return whether a report of the month was issued, so that prose may say "violated"."""
    return shown.name is RangeName.MONTH and any(
        each.month == shown.month for each in issued_rows(view.store, view.as_of, contract=contract)
    )


def _sections(
    view: View, versions: Versions, shown: Range
) -> tuple[dict[str, Any] | None, Basis, int | None]:
    if shown.name is RangeName.MONTH and shown.month is not None:
        report = view.memory.reports.report(view.store, versions, shown.month, view.as_of)
        return report, Basis.ROWS, report["revision"]
    found = ranged(view.store, versions, interval_of(shown), view.as_of)
    return None if found is None else found.sections, Basis.ROWS, None


def _latency(view: View, versions: Versions, shown: Range) -> tuple[LatencyPoint, ...]:
    found = source_of(view.store, versions, interval_of(shown), view.as_of)
    if found is None:
        return ()
    zone = versions[-1].zone if shown.name is RangeName.MONTH else None
    window = interval_of(shown) if zone is not None else elapsed_of(shown)
    return latency_points(view.store, found, window, zone=zone)


def _with_burns(
    view: View, versions: Versions, budgets: tuple[BudgetFigures, ...]
) -> tuple[BudgetFigures, ...]:
    current = version_in_force(versions, view.as_of)
    if current is None:
        return budgets
    key = key_of(current)
    sums, shares = recent_sums(view, [key]).get(key), shares_of(view, key, current)
    places = {objective.name: place for place, objective in enumerate(current.objectives)}
    return tuple(
        each.model_copy(
            update={"burns": burns_of(current, shares[places[each.objective]], places[each.objective], sums)}
        )
        if each.objective in places and each.part is None
        else each
        for each in budgets
    )


def _gauges(view: View, shown: Range) -> tuple[GaugeSeries, ...]:
    window = elapsed_of(shown)
    series: dict[tuple[str, str, str, str], list[GaugePoint]] = {}
    for each in engine_gauges(view.store, window, view.as_of):
        key = (each.gauge, each.target, each.engine, each.model)
        series.setdefault(key, []).append(
            GaugePoint(starts_at=from_us(each.start_us), last=each.last, greatest=each.greatest)
        )
    measured = view.measured(Anchor.GAUGES, Basis.ENGINES)
    return tuple(
        GaugeSeries(
            gauge=gauge,  # type: ignore[arg-type]  # the three that are read
            unit=_UNITS[gauge],  # type: ignore[arg-type]
            target=target,
            engine=engine,
            model=model,
            points=tuple(points),
            measured=measured,
        )
        for (gauge, target, engine, model), points in series.items()
    )


def _choice(view: View, versions: Versions) -> TenantContract:
    return TenantContract(
        contract=versions[0].id,
        title=title_of(versions[-1]),
        time_zone=versions[-1].term.time_zone,
        months=tuple(months_of(versions, view.as_of)),
    )


def _without_contract(view: View, tenant: str, shown: Range) -> TenantPage:
    return TenantPage(
        range=shown, as_of=view.as_of, lacking=(Lack.NO_CONTRACTS,), tenant=tenant, contract=None, contracts=(),
        clocks=(), clocks_measured=view.measured(Anchor.CLOCKS, Basis.ROWS), phases=(), latency=(), traffic=None,
        coverage=None, promises=(), budgets=(), burn_downs=(), gauges=(), alerts=(),
    )  # fmt: skip
