"""Own the rules about the frame: zones, quotas, holidays, exclusions, periods that nothing uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sla.calendars import HolidaysUnknown, is_offset_zone
from sla.contracts.lint.findings import Finding, Wording, add, write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sla.contracts.contract import Contract

_CAPS = {"maintenance": "4h", "cold_start": "30m", "client_network": "0.1%"}


def zone_is_a_place(contract: Contract) -> Iterator[Finding]:
    """Warn of a zone that is an offset: it follows no change of the clocks."""
    name = contract.term.time_zone
    if is_offset_zone(name):
        yield Finding(
            severity="warning",
            rule="zone-by-offset",
            path=("term", "time_zone"),
            reason=Wording(
                en=f"{name} is an offset and follows no change of the clocks or of the law",
                zh=f"{name} 是固定偏移，不随夏令时或法律变更而调整",
            ),
            suggestion=write("time_zone: Asia/Shanghai"),
        )


def quota_is_stated(contract: Contract) -> Iterator[Finding]:
    """Warn where no quota is stated: rejections by quota then count for nothing."""
    if contract.quota is None:
        yield Finding(
            severity="warning",
            rule="no-quota",
            path=("quota",),
            reason=Wording(
                en="without a quota no `quota_rejected` is ever counted, however little the customer sends",
                zh="未约定配额时，`quota_rejected` 一律不计入，无论客户流量多小",
            ),
            suggestion=add("quota: {requests_per_minute: 600, rejected_below: bad}"),
            absence=True,
        )


def exclusions_are_capped(contract: Contract) -> Iterator[Finding]:
    """Require a cap for each exclusion that the provider can bring about."""
    for key, cap in _CAPS.items():
        exclusion = getattr(contract.exclusions, key)
        if exclusion is not None and exclusion.cap_per_month is None:
            yield Finding(
                severity="error",
                rule="uncapped-exclusion",
                path=("exclusions", key),
                reason=Wording(
                    en="nothing limits how much of a month may be left out",
                    zh="未约定每月最多可除外多少时间",
                ),
                suggestion=add(f"cap_per_month: {cap}"),
            )


def holidays_are_on_record(contract: Contract) -> Iterator[Finding]:
    """Warn of years of the term whose holidays have not been announced."""
    calendar = contract.calendar.holiday_calendar
    if calendar is None or not _asks_for_workdays(contract):
        return
    for year in range(contract.term.first_day.year, contract.term.last_day.year + 1):
        try:
            calendar.year(year)
        except HolidaysUnknown as unknown:
            yield Finding(
                severity="warning",
                rule="holidays-not-on-record",
                path=("calendar", "holidays"),
                reason=Wording(
                    en=f"{calendar.code} {year}: {unknown.problem}; months of that year cannot be judged yet",
                    zh=f"{calendar.code} {year} 年的节假日与调休日尚无记录，不作推测；该年各月暂无法判定",
                ),
                suggestion=Wording(
                    en="update Fairclock once the dates are announced, or name weekdays in place of workdays",
                    zh="日期公布后请升级 Fairclock，或以星期名称代替 workdays",
                ),
            )


def _asks_for_workdays(contract: Contract) -> bool:
    rules = (rule for rules in contract.calendar.periods.values() for rule in rules)
    return any(rule.days.workdays for rule in rules)


def periods_are_used(contract: Contract) -> Iterator[Finding]:
    """Warn of a named period that no objective holds in: its `during` may have been forgotten."""
    used = {objective.during.name for objective in contract.objectives if objective.during is not None}
    for name in contract.calendar.periods:
        if name not in used:
            yield Finding(
                severity="warning",
                rule="unused-period",
                path=("calendar", name),
                reason=Wording(
                    en="no objective holds during this period or outside it",
                    zh="没有任何指标使用该时段",
                ),
                suggestion=add(f"during: {name}"),
                absence=True,
            )


RULES = (zone_is_a_place, quota_is_stated, exclusions_are_capped, holidays_are_on_record, periods_are_used)
