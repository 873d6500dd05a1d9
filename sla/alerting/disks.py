"""Own the watch on the room that the store's disks have: when it ends, everything waits in spools."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.errors import StoreReadOnly
from fairclock.store.disks import disks
from sla.alerting import wording
from sla.alerting.naming import EVERYBODY, AlertKey
from sla.alerting.watches import Watch
from sla.alerts import Condition, Finding, Holds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from fairclock.store.disks import Disk
    from sla.alerting.configuration import AlertsSection, SeverityName
    from sla.alerting.measuring import Moment

LOW, FULL = "disk-low", "disk-full"
_RUNBOOK = "store-disk"


def disk_watches(moment: Moment, section: AlertsSection) -> Iterator[Watch]:
    """Yield a watch for each mark of each disk; an account that may not look at disks has none."""
    rule = section.disk
    if not rule.enabled:
        return
    try:
        found = disks(moment.store)
    except StoreReadOnly:  # the account has no right to system.disks, which doctor says
        return
    hold = timedelta(seconds=rule.hold)
    for disk in found:
        yield _watch(disk, LOW, rule.warning, "warning", hold)
        yield _watch(disk, FULL, rule.critical, "critical", hold)


def _watch(disk: Disk, rule: str, least: Fraction, severity: SeverityName, hold: timedelta) -> Watch:
    used, limit = 1 - disk.free_ratio, 1 - least
    finding = Finding(rule=rule, value=used.limit_denominator(10**6), threshold=limit)
    return Watch(
        key=AlertKey(contract=EVERYBODY, rule=rule, subject=disk.name),
        severity=severity,
        condition=Condition(holds=Holds.YES if used > limit else Holds.NO, finding=finding),
        words=wording.shares(
            f"the store's disk {disk.name} fills up, in % of its size",
            f"存储磁盘 {disk.name} 即将用满（已用比例）",
        ),
        hold=hold,
        runbook=_RUNBOOK,
    )
