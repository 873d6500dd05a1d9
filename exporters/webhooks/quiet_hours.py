"""Own quiet hours: the time of day at which only what is urgent is sent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

from exporters.webhooks.event import Severity

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietHours:
    """Every day from `begin` to `end` by the clocks of `zone`, over midnight where `begin` is the later one."""

    begin: time
    end: time
    zone: ZoneInfo
    let_through: frozenset[Severity] = frozenset({Severity.CRITICAL})

    def hold(self, severity: Severity, now: datetime) -> datetime | None:
        """Return until when something of `severity` has to wait at `now`; None if it has not to."""
        if severity in self.let_through:
            return None
        local = now.astimezone(self.zone)
        clock = local.time()
        is_over_midnight = self.begin > self.end
        is_quiet = (
            clock >= self.begin or clock < self.end if is_over_midnight else self.begin <= clock < self.end
        )
        if not is_quiet:
            return None
        day = local.date() + (_DAY if is_over_midnight and clock >= self.begin else timedelta())
        end = datetime.combine(day, self.end, tzinfo=self.zone)
        # by its clock the end may lie behind us where the clocks are set back: look again soon
        return max(end.astimezone(now.tzinfo), now + timedelta(seconds=1))
