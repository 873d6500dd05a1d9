"""Own what of a bundle was measured beside the requests: time read through, seals, probes, hosts' clocks, what was set aside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.model import Interval
from fairclock.store.bundles import began_within, offsets_query, runs_query, set_aside_query
from fairclock.store.engine_timelines import Sweep, days, timeline
from fairclock.store.probe_sightings import reconciled_as_of
from fairclock.store.probes import probes_as_of
from fairclock.store.requests import seals_as_of
from sla.bundle.tables import write_table
from sla.bundle.written import json_bytes, lines_bytes, tree_of
from sla.evaluation.dataset import rows_of
from sla.evaluation.fragments import select, sql
from sla.evaluation.subject import subject_of
from sla.probing import REACH, concerning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from fairclock.store import Store
    from sla.bundle.reach import Judging

_SET_ASIDE = ("arrived_us", "end_to_end_us", "queue_us", "prefill_us", "decode_us")
_TIMELINE = {
    "engine": "text",
    "tenant": "text",
    "began_us": "count",
    "ended_us": "count",
    "prompt_tokens": "count",
    "cached_tokens": "count",
    "completion_tokens": "count",
}


def measured_files(store: Store, judges: Sequence[Judging], as_of: datetime) -> Iterator[tuple[str, bytes]]:
    """Yield what was known at `as_of` of how the month was measured."""
    period = Interval(start=judges[0].months[0].period.start, end=judges[-1].months[0].period.end)
    elapsed = Interval(start=period.start, end=judges[-1].months[0].elapsed.end)
    earliest = min(month.period.start for each in judges for month in each.months)
    whole = Interval(start=earliest, end=max(elapsed.end, earliest))
    yield (
        "covered.json",
        json_bytes({kind: store.covered(kind, whole, as_of) for kind in ("gateway", "engine")}),
    )
    probes = probes_as_of(store, Interval(start=period.start - REACH, end=elapsed.end), as_of)
    concerned = {each.id: each for judge in judges for each in concerning(judge.contract, probes)}
    yield "probes.jsonl", lines_bytes(tree_of(each) for each in probes if each.id in concerned)
    yield (
        "sightings.jsonl",
        lines_bytes(
            {"id": each.probe.id, "seen": [tree_of(seen) for seen in each.sightings]}
            for each in reconciled_as_of(store, elapsed, as_of)
            if each.probe.id in concerned
        ),
    )
    seals = store.rows(seals_as_of(period, as_of))
    yield (
        "seals.jsonl",
        lines_bytes(
            {"hour": hour, "seal": int(seal), "rows": int(rows), "digest": str(digest)}
            for hour, seal, rows, digest in seals
        ),
    )
    yield "host_clock_offsets.jsonl", lines_bytes(_offsets(store, elapsed, as_of))
    yield "anomalies.jsonl", lines_bytes(_anomalies(store, judges, elapsed, as_of))


def _offsets(store: Store, elapsed: Interval, as_of: datetime) -> Iterator[dict[str, Any]]:
    for day, engine, pairs, low, middle, high in store.rows(offsets_query(elapsed, as_of)):
        yield {
            "day": str(day),
            "engine": engine,
            "pairs": int(pairs),
            "least_us": int(low),
            "median_us": int(middle),
            "greatest_us": int(high),
        }


def _anomalies(
    store: Store, judges: Sequence[Judging], elapsed: Interval, as_of: datetime
) -> Iterator[dict[str, Any]]:
    """Yield what engines said that cannot be true, and the requests that were left without a measurement for it."""
    for engine, *numbers in store.rows(set_aside_query(elapsed, as_of)):
        yield {
            "what": "engine row set aside",
            "engine": engine,
            **dict(zip(_SET_ASIDE, numbers, strict=True)),
        }
    for each in judges:
        subject = subject_of(each.contract, in_force=each.in_force)
        for id_, k, at_us, engine in store.rows(
            select(
                (
                    sql("lower(hex(content_hash)) AS id"),
                    sql("k"),
                    sql("at_us"),
                    sql("toString(engine) AS what"),
                ),
                rows_of(store, subject, each.months[0].period, as_of),
                sql("WHERE engine IN ('quarantined', 'ambiguous') ORDER BY at_us, id, k"),
            )
        ):
            yield {"what": f"request {engine}", "id": id_, "k": int(k), "received_us": int(at_us)}


def write_timeline(
    store: Store, path: Path, tenants: Sequence[str], elapsed: Interval, as_of: datetime
) -> int:
    """Write all that ran on the engines in `elapsed`, other tenants' under numbers; return how many rows they were.

    Tokens are the customer's own only: of what others sent it is told when it ran, not how long it was.
    """
    return write_table(path, _TIMELINE, _ran(store, tenants, elapsed, as_of))


def _ran(
    store: Store, tenants: Sequence[str], elapsed: Interval, as_of: datetime
) -> Iterator[Mapping[str, Sequence[object]]]:
    own = set(tenants)
    names: dict[str, str] = {}
    for day in days(elapsed):
        if not any(store.rows(runs_query(day, as_of))):
            continue
        with timeline(store, day, as_of, Sweep(lanes=(), edges_us=())) as ran:
            inside = Interval(start=max(day.start, elapsed.start), end=min(day.end, elapsed.end))
            rows = store.rows(began_within(ran, inside))
        columns: dict[str, list[object]] = {name: [] for name in _TIMELINE}
        for engine, tenant, *numbers in rows:
            is_own = tenant in own
            if not is_own and tenant not in names:
                names[tenant] = f"other-{len(names) + 1}"
            shown = [*numbers[:2], *(numbers[2:] if is_own else [None] * 3)]
            for name, value in zip(
                _TIMELINE, [engine, tenant if is_own else names[tenant], *shown], strict=True
            ):
                columns[name].append(value)
        yield columns
