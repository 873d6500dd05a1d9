"""Own how usage is read from the store, as it was known at an instant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from billing.cost_book.reading import machines_known, sweep_of
from billing.usage.groups import RequestUsage, Treatment, Usage
from fairclock.model import Interval, from_us, to_us
from fairclock.model.length_classes import CELLS
from fairclock.store.engine_timelines import CLAIMS_US, days, earliest_us, hour_edges
from fairclock.store.usage import Grouping, request_usage, usage_groups, usage_window

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from billing.cost_book.settings import CostBookSettings
    from fairclock.store import Store

_HOUR_US = 3_600_000_000


def read_usage(
    store: Store,
    window: Interval,
    as_of: datetime,
    settings: CostBookSettings,
    *,
    cuts: Sequence[datetime] = (),
    days_at_once: int = 1,
) -> list[Usage]:
    """Return the usage of all requests received in the whole hours (UTC) that `window` touches, as known at `as_of`.

    Groups are cut at hours and at `cuts` (price changes), and ordered, day after day, by all that they are grouped by. Sealed hours and open
    ones are read as reports read them; what it says of an hour does not depend on which others are read with it. `days_at_once`: how much is
    kept in memory together; more is faster where there is little traffic.
    """
    return [
        each for day in days(window, days_at_once) for each in _read_day(store, day, as_of, settings, cuts)
    ]


def touched_hours(store: Store, changed: Interval, as_of: datetime) -> Interval:
    """Return the whole hours whose usage may be another because something about the hours of `changed` was stored.

    Whatever ran beside the requests of `changed`, until the last of them ended, has another share of the GPUs' time; and a
    request's share is in the hour in which it was received, up to a day before.
    """
    ran_in = usage_window(store, changed, as_of)
    first_us = earliest_us(store, ran_in, as_of) - CLAIMS_US
    edges = hour_edges(Interval(start=from_us(max(first_us, 0)), end=from_us(to_us(ran_in.end) + CLAIMS_US)))
    return Interval(start=from_us(edges[0]), end=from_us(edges[-1]))


def _read_day(
    store: Store, window: Interval, as_of: datetime, settings: CostBookSettings, cuts: Sequence[datetime]
) -> list[Usage]:
    ran_in = usage_window(store, window, as_of)
    machines = machines_known(store, ran_in, as_of, settings)
    grouping = Grouping(
        classes=CELLS,
        lane_machines=tuple(each.machine for each in machines),
        upstream_machines=tuple(
            {address: each.machine for each in machines for address in each.upstreams}.items()
        ),
        probe_tenants=tuple(sorted(settings.probe_tenants)),
        cuts=tuple(cuts),
    )
    # not cut at prices: what a request ran later does not depend on how far prices are looked at
    sweep = sweep_of(machines, settings, ran_in) if machines else None
    return [
        Usage(
            tenant=tenant,
            hour=from_us(start_us // _HOUR_US * _HOUR_US),
            start=from_us(start_us),
            end=from_us(end_us),
            model=model,
            length_class=length_class,
            inference_mode=inference_mode,
            machine=machine,
            treatment=Treatment(treatment),
            estimated=bool(estimated),
            requests=int(numbers[0]),
            uncached_prompt_tokens=int(numbers[1]),
            cached_prompt_tokens=int(numbers[2]),
            completion_tokens=int(numbers[3]),
            gpu_picoseconds=int(numbers[4]),
            peak_kv_tokens=int(numbers[5]),
        )
        for tenant, start_us, end_us, model, length_class, inference_mode, machine, treatment, estimated, *numbers
        in usage_groups(store, window, as_of, sweep, grouping)
    ]  # fmt: skip


def read_request_usage(
    store: Store, window: Interval, as_of: datetime, settings: CostBookSettings, *, tenant: str
) -> list[RequestUsage]:
    """Return what each of a tenant's requests received in the whole hours (UTC) of `window` used, in order of time."""
    ran_in = usage_window(store, window, as_of)
    machines = machines_known(store, ran_in, as_of, settings)
    sweep = sweep_of(machines, settings, ran_in) if machines else None
    names = [each.machine for each in machines]
    return [
        RequestUsage(
            received_at=received_at,
            request_id=request_id,
            request=request,
            model=model,
            outcome=outcome,
            machine=machine,
            prompt_tokens=prompt,
            cached_prompt_tokens=int(cached),
            completion_tokens=completion,
            gpu_picoseconds=None if picoseconds is None else int(picoseconds),
        )
        for received_at, request_id, request, model, outcome, machine, prompt, cached, completion, picoseconds
        in request_usage(store, window, as_of, sweep, tenant=tenant, lane_machines=names)
    ]  # fmt: skip
