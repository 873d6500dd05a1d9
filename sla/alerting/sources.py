"""Own what is watched of engines and sources, whatever contract they serve: a full KV cache, silence, contradictions."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.model import Interval, to_us
from fairclock.store import Query
from fairclock.store.engine_lives import kv_cache_usage, last_heard
from sla.alerting import wording
from sla.alerting.naming import EVERYBODY, AlertKey
from sla.alerting.watches import Watch
from sla.alerts import Condition, Finding, Holds, silent_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from fairclock.store.engine_lives import Heard, KvCacheUsage
    from sla.alerting.configuration import AlertsSection
    from sla.alerting.measuring import Moment

KV_CACHE = "kv-cache"
_MICROSECOND = timedelta(microseconds=1)
_KV_WINDOW = timedelta(minutes=10)
_KV_STALE = timedelta(minutes=2)
_FOLLOWED_SECONDS = 300
"""Whatever noted coverage within this time of the event followed its source; an import of the past does not."""


def kv_cache_watches(moment: Moment, section: AlertsSection) -> Iterator[Watch]:
    """Yield the watch on each engine's KV cache, by its last reading."""
    rule = section.kv_cache
    if not rule.enabled:
        return
    window = Interval(start=moment.now - _KV_WINDOW, end=moment.now)
    last: dict[str, KvCacheUsage] = {}
    for usage in kv_cache_usage(moment.store, window, moment.as_of):
        last[f"{usage.engine} {usage.rank}".strip()] = usage
    for engine, usage in sorted(last.items()):
        yield Watch(
            key=AlertKey(contract=EVERYBODY, rule=KV_CACHE, subject=engine),
            severity=rule.severity,
            condition=_kv_cache(usage, moment, window, limit=rule.above),
            words=wording.shares(f"the KV cache of {engine} is nearly full", f"{engine} 的 KV 缓存将满"),
            hold=timedelta(seconds=rule.hold),
        )


def source_watches(moment: Moment, section: AlertsSection) -> Iterator[Watch]:
    """Yield the watch on each source that was followed lately, and on each engine that is scraped."""
    rule = section.sources
    if not rule.enabled:
        return
    since = moment.now - timedelta(seconds=rule.forget_after)
    limit_us = timedelta(seconds=rule.silent_after) // _MICROSECOND
    for kind, source, newest in followed_sources(moment, since):
        yield _silent(f"{kind} {source}", newest, moment, limit_us, section)
    for heard in last_heard(moment.store, Interval(start=since, end=moment.now), moment.as_of):
        yield _silent(f"engine {heard.target}", heard.answered_at or since, moment, limit_us, section)
        yield _suspect(heard, moment, limit_us, section)


def followed_sources(moment: Moment, since: datetime) -> list[tuple[str, str, datetime]]:
    """Return (kind, source, up to where it was read) of the logs and receivers followed after `since`."""
    found = moment.store.rows(
        Query(
            sql="SELECT kind, source, max(covered_to) FROM covered WHERE kind IN ('gateway', 'engine')"
            " AND toUnixTimestamp64Micro(stored_at) <= {as_of:Int64}"
            " AND covered_to > fromUnixTimestamp64Micro({since:Int64}, 'UTC')"
            " GROUP BY kind, source HAVING countIf(dateDiff('second', covered_to, stored_at) < {followed:Int64}) > 0"
            " ORDER BY kind, source",
            parameters={
                "as_of": to_us(moment.as_of), "since": to_us(since), "followed": _FOLLOWED_SECONDS,
            },
        )
    )  # fmt: skip
    return [(kind, source, newest) for kind, source, newest in found]


def _silent(source: str, newest: datetime, moment: Moment, limit_us: int, section: AlertsSection) -> Watch:
    return Watch(
        key=AlertKey(contract=EVERYBODY, rule="source-silent", subject=source),
        severity=section.sources.severity,
        condition=silent_source(newest, now=moment.now, limit_us=limit_us, is_suspect=False),
        words=wording.durations(f"{source} has said nothing for", f"{source} 已沉默"),
    )


def _suspect(heard: Heard, moment: Moment, limit_us: int, section: AlertsSection) -> Watch:
    """Return the watch on contradictions; what is not heard any more tells neither way."""
    found = silent_source(
        heard.answered_at, now=moment.now, limit_us=limit_us, is_suspect=heard.suspect_since is not None
    )
    if heard.suspect_since is None and found.holds is Holds.YES:
        found = Condition(
            holds=Holds.UNKNOWN, finding=found.finding, why_unknown="it has said nothing since it was suspect"
        )
    return Watch(
        key=AlertKey(contract=EVERYBODY, rule="source-suspect", subject=f"engine {heard.target}"),
        severity=section.sources.severity,
        condition=found,
        words=wording.durations(
            f"engine {heard.target} contradicts itself; its last word is old by",
            f"引擎 {heard.target} 的数据自相矛盾；最新数据距今",
        ),
    )


def _kv_cache(usage: KvCacheUsage, moment: Moment, window: Interval, *, limit: Fraction) -> Condition:
    age_us = (moment.now - usage.at) // _MICROSECOND
    value = Fraction(usage.ratio).limit_denominator(10**6)
    finding = Finding(
        rule=KV_CACHE, window=window, value=value, threshold=limit, data_age_seconds=Fraction(age_us, 10**6)
    )
    if moment.now - usage.at > _KV_STALE:
        why = f"the last reading is {age_us / 1e6:.0f} s old"
        return Condition(holds=Holds.UNKNOWN, finding=finding, why_unknown=why)
    return Condition(holds=Holds.YES if value > limit else Holds.NO, finding=finding)
