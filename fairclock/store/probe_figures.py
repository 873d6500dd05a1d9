"""Own the queries that count what probes say of the measurement, where they are kept: a pass each over their rows.

A month may hold more probes than a report has time for. Of one id the row stored first says what the probe was, the last that
was reconciled what was seen of it. Percentiles are nearest ranks, in integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.model.probes import SAYS_NOTHING, ProbeOutcome
from fairclock.store.probes import WITHIN, within
from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.model import Interval

_CLOCKS = {
    "end_to_end": "seen_end_to_end_us",
    "queue": "seen_queue_us",
    "prefill": "seen_prefill_us",
    "decode": "seen_decode_us",
    "time_to_first_token": "seen_first_token_us",
}
_OK = ProbeOutcome.OK.value
_NOTHING = ", ".join(f"'{each.value}'" for each in sorted(SAYS_NOTHING))


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Which probes concern somebody: those of these tenants or of nobody's, of these models and regions or of none.

    Models and regions: () for all.
    """

    tenants: Sequence[str]
    models: Sequence[str] = ()
    regions: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """The probes that were to be sent in `window`, as they were known at `as_of`: all, or those of some services that say something."""

    window: Interval
    as_of: datetime
    services: Sequence[Service] | None = None

    def query(self, sql: str, **parameters: object) -> Query:
        """Return the query `sql`, in which ``<told>`` and ``<seen>`` stand for what probers told and what was seen."""
        known = within(self.window, self.as_of)
        conditions = self._conditions(known)
        told = _told(conditions)
        filled = sql.replace("<told>", told).replace("<seen>", _seen(told))
        return Query(sql=filled, parameters={**known, **parameters})

    def _conditions(self, parameters: dict[str, object]) -> str:
        if self.services is None:
            return "1"
        parts = []
        for number, service in enumerate(self.services):
            named = {"tenant": service.tenants, "model": service.models, "region": service.regions}
            conditions = []
            for column, names in named.items():
                # what a contract leaves open is anything; a tenant is never
                if names or column == "tenant":
                    parameters[f"{column}s_{number}"] = ["", *names]
                    conditions.append(f"{column} IN {{{column}s_{number}:Array(String)}}")
            parts.append(" AND ".join(conditions))
        return f"outcome NOT IN ({_NOTHING}) AND (({') OR ('.join(parts)}))"


def _told(conditions: str) -> str:
    """Return the relation of the probes in scope, as their prober told of them."""
    columns = "id, outcome, status, tenant, model, region, intended_at, sent_at"
    return (
        f"SELECT * FROM (SELECT {columns} FROM probe_requests WHERE {WITHIN} ORDER BY stored_at LIMIT 1 BY id)"
        f" WHERE {conditions}"
    )


def _seen(told: str) -> str:
    """Return the relation of the probes in scope that were reconciled, with what was seen of each."""
    arrays = ", ".join(("seen_by", "seen_instance", "seen_began_at", *_CLOCKS.values()))
    return (
        f"SELECT * FROM ({told}) AS told INNER JOIN (SELECT id, {arrays} FROM probe_requests WHERE {WITHIN}"
        " AND reconciled_at IS NOT NULL ORDER BY stored_at DESC, reconciled_at DESC LIMIT 1 BY id) AS seen USING (id)"
    )


def _at(percentile: int) -> str:
    """Return the nearest rank among `ascending`, in integers: ceil(p n / 100)."""
    return f"[toInt64(length(ascending)) - intDiv({100 - percentile} * toInt64(length(ascending)), 100)]"


def sent_query(probed: Probed) -> Query:
    """Return the query for one row: sent, answered, failed, and of the prober's lateness in µs P50, P99 and the greatest."""
    late = "greatest(0, dateDiff('microsecond', intended_at, sent_at))"
    ranks = ", ".join(f"ascending{_at(each)}" for each in (50, 99, 100))
    return probed.query(
        f"SELECT sent, answered, failed, {ranks} FROM (SELECT count() AS sent, countIf(outcome = '{_OK}') AS answered,"
        f" countIf(outcome NOT IN ('{_OK}', {_NOTHING})) AS failed,"
        f" arraySort(groupArray(assumeNotNull({late}))) AS ascending FROM (<told>) WHERE sent_at IS NOT NULL)"
    )


def reconciled_query(probed: Probed) -> Query:
    """Return the query for how many were reconciled."""
    return probed.query("SELECT count() FROM (<seen>)")


def sources_query(probed: Probed, sources: Sequence[str]) -> Query:
    """Return the query for (source, should see, saw, unseen in a row at the end, since when)."""
    should = f"if(source = 'gateway', status != 0, outcome = '{_OK}')"
    return probed.query(
        "SELECT source, length(ordered) AS expected, arrayCount(each -> each.3, ordered) AS saw,"
        " if(last_seen = 0, expected, last_seen - 1) AS unseen,"
        " if(unseen = 0, NULL, toUnixTimestamp64Micro(ordered[expected - unseen + 1].1)) AS since FROM ("
        "SELECT source, ordered, arrayFirstIndex(each -> each.3, arrayReverse(ordered)) AS last_seen FROM ("
        f"SELECT source, arraySort(groupArrayIf((intended_at, id, has(seen_by, source)), {should})) AS ordered"
        " FROM (SELECT *, arrayJoin({sources:Array(String)}) AS source FROM (<seen>)) GROUP BY source))",
        sources=list(sources),
    )


def differences_query(probed: Probed, compared: Sequence[tuple[str, str, str, int]]) -> Query:
    """Return the query for what the comparisons (clock, source, against, tolerance in µs) come to, those that have any probe.

    Columns: the comparison's number from 1, probes, least, median and greatest difference, P50, P95 and P99 of the sizes, how
    many are larger than the tolerance; µs.
    """
    shown = ", ".join(
        ["length(apart)", "apart[1]", f"apart{_at(50)}", "apart[-1]"]
        + [f"ascending{_at(each)}" for each in (50, 95, 99)]
    )
    clocks, sources, againsts, tolerances = map(list, zip(*compared, strict=True))
    return probed.query(
        f"SELECT number, {shown}, arrayCount(size -> size > at_most, ascending) FROM ("
        "SELECT number, at_most, apart, arraySort(arrayMap(each -> abs(each), apart)) AS ascending FROM ("
        "SELECT number, any({tolerances:Array(Int64)}[number]) AS at_most,"
        " arraySort(groupArray(assumeNotNull(difference))) AS apart FROM ("
        f"SELECT number, {_duration('mine')} - {_duration('theirs')} AS difference FROM ("
        "SELECT *, {clocks:Array(String)}[number] AS clock, indexOf(seen_by, {sources:Array(String)}[number]) AS mine,"
        " indexOf(seen_by, {againsts:Array(String)}[number]) AS theirs FROM ("
        "SELECT *, arrayJoin(arrayEnumerate({sources:Array(String)})) AS number"
        f" FROM (<seen>) WHERE outcome = '{_OK}')) WHERE mine > 0 AND theirs > 0) WHERE difference IS NOT NULL"
        " GROUP BY number)) ORDER BY number",
        clocks=clocks,
        sources=sources,
        againsts=againsts,
        tolerances=tolerances,
    )


def _duration(place: str) -> str:
    choices = ", ".join(f"clock = '{clock}', {column}[{place}]" for clock, column in _CLOCKS.items())
    return f"multiIf({choices}, NULL)"


def clocks_query(
    probed: Probed, nested: Sequence[tuple[str, str]], *, resolution_us: int, passed_over: int
) -> Query:
    """Return the query for between what the clocks of `nested` (inner, outer) sources are apart.

    Columns: the pair's number from 1, both instances, requests, the bounds (low, high), those of the first and of the last third
    of the requests; µs. One in `passed_over` of the narrowest bounds is passed over on either side.
    """
    inner, outer = map(list, zip(*nested, strict=True))
    bounds = ", ".join(
        f"arraySort(arrayMap(each -> each.3, {some}))[-1 - intDiv(toInt64(length({some})), {passed_over})],"
        f" arraySort(arrayMap(each -> each.4, {some}))[1 + intDiv(toInt64(length({some})), {passed_over})]"
        for some in ("bounds", "arraySlice(bounds, 1, third)", "arraySlice(bounds, -third)")
    )
    return probed.query(
        f"SELECT number, instance, against_instance, length(bounds), {bounds} FROM ("
        "SELECT number, instance, against_instance, bounds, toInt64(greatest(1, intDiv(length(bounds), 3))) AS third FROM ("
        "SELECT number, instance, against_instance, arraySort(groupArray((intended_at, id,"
        " assumeNotNull(ended_us) - {resolution:Int64}, assumeNotNull(began_us) + {resolution:Int64}))) AS bounds FROM ("
        "SELECT *, began_us + seen_end_to_end_us[mine] - seen_end_to_end_us[theirs] AS ended_us FROM ("
        "SELECT *, seen_instance[mine] AS instance, seen_instance[theirs] AS against_instance,"
        " toUnixTimestamp64Micro(seen_began_at[mine]) - toUnixTimestamp64Micro(seen_began_at[theirs]) AS began_us FROM ("
        "SELECT *, indexOf(seen_by, {inner:Array(String)}[number]) AS mine,"
        " indexOf(seen_by, {outer:Array(String)}[number]) AS theirs FROM ("
        "SELECT *, arrayJoin(arrayEnumerate({inner:Array(String)})) AS number"
        f" FROM (<seen>) WHERE outcome = '{_OK}')) WHERE mine > 0 AND theirs > 0)) WHERE ended_us IS NOT NULL"
        " GROUP BY number, instance, against_instance)) ORDER BY number, instance, against_instance",
        inner=inner,
        outer=outer,
        resolution=resolution_us,
    )
