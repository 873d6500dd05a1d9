"""Own the Prometheus rules on Fairclock's own health: what tells that the measurement itself is in trouble.

They read the figures of ``fairclock up`` and of sidecars. What is lost pages, what waits warns: the spool holds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sla.prometheus_rules import runbook

if TYPE_CHECKING:
    from typing import Any, Literal

_GROUP = "fairclock-health"


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRule:
    """One rule: when it fires, after how long, how soon somebody has to look, and which page says what to do."""

    name: str
    expression: str
    lasting: str
    severity: Literal["critical", "warning"]
    summary: str
    page: str


HEALTH_RULES = (
    HealthRule(
        name="FairclockDown", expression='up{job="fairclock"} == 0 or absent(up{job="fairclock"})', lasting="1m", severity="critical",
        summary="{{ $labels.instance }} does not answer: nothing is measured, unless its collectors run elsewhere", page="fairclock-down",
    ),
    HealthRule(
        name="FairclockCollectsNothing", expression="fairclock_collecting == 0", lasting="1m", severity="critical",
        summary="the spool of {{ $labels.instance }} takes nothing: senders wait, and syslog by UDP is lost", page="collects-nothing",
    ),
    HealthRule(
        name="FairclockSpoolFills", expression="fairclock_spool_bytes / fairclock_spool_limit_bytes > 0.5", lasting="5m", severity="warning",
        summary="{{ $labels.instance }}: {{ $value | humanizePercentage }} of the spool is taken", page="spool-fills",
    ),
    HealthRule(
        name="FairclockDeliversLate", expression="fairclock_spool_oldest_unsent_seconds > 60", lasting="2m", severity="warning",
        summary="{{ $labels.instance }}: what came {{ $value | humanizeDuration }} ago is not delivered yet", page="spool-fills",
    ),
    HealthRule(
        name="FairclockStoreFails", expression="fairclock_store_failures > 5", lasting="1m", severity="critical",
        summary="{{ $labels.instance }}: the store took nothing {{ $value }} times in a row; what is collected waits on the disk", page="store-fails",
    ),
    HealthRule(
        name="FairclockNotForwarding", expression="fairclock_forwarding == 0", lasting="5m", severity="critical",
        summary="the sidecar {{ $labels.instance }} cannot deliver", page="not-forwarding",
    ),
    HealthRule(
        name="FairclockLostData",
        expression="increase(fairclock_tail_lost_files_total[1h]) > 0 or increase(fairclock_syslog_lost_total[1h]) > 0"
        " or increase(fairclock_refused_rows_total[1h]) > 0"
        # a reason comes with the first row that has it, and no increase is seen of what begins above 0
        " or (fairclock_refused_rows_total unless max_over_time(fairclock_refused_rows_total[10m] offset 1h)) > 0"
        " or increase(fairclock_gpu_dropped_total[1h]) > 0"
        " or fairclock_spool_quarantined_segments > 0 or fairclock_spool_missing_segments > 0",
        lasting="0m", severity="critical",
        summary="something that {{ $labels.instance }} collected, or should have, is lost", page="lost-data",
    ),
    HealthRule(
        name="FairclockDeadLetters",
        expression="delta(fairclock_dead_letters[1h]) > 0"
        " or (fairclock_dead_letters unless max_over_time(fairclock_dead_letters[1d] offset 1h)) > 0",
        lasting="0m", severity="warning",
        summary="lines of {{ $labels.source }} cannot be read: {{ $labels.reason }}", page="dead-letters",
    ),
    HealthRule(
        name="FairclockEvaluatorFails", expression="fairclock_evaluator_failing == 1", lasting="5m", severity="critical",
        summary="the step {{ $labels.step }} of the evaluator of {{ $labels.instance }} fails", page="evaluator-fails",
    ),
    HealthRule(
        name="FairclockEvaluatorStuck", expression="increase(fairclock_evaluator_passes_total[10m]) == 0", lasting="5m", severity="critical",
        summary="the evaluator of {{ $labels.instance }} stands still", page="evaluator-fails",
    ),
    HealthRule(
        name="FairclockContractBroken", expression="fairclock_contract_file_broken == 1 or fairclock_price_book_broken == 1", lasting="1m", severity="warning",
        summary="{{ $labels.path }} cannot be read: what it said before stays in force", page="contract-broken",
    ),
    HealthRule(
        name="FairclockDaySealsFailing", expression="fairclock_day_seals_failing == 1", lasting="6h", severity="warning",
        summary="{{ $labels.receiver }} takes no seals of days", page="day-seals-failing",
    ),
    HealthRule(
        name="FairclockEngineSilent", expression="fairclock_scrape_up == 0", lasting="5m", severity="warning",
        summary="the engine {{ $labels.target }} does not answer at its /metrics", page="source-silent",
    ),
    HealthRule(
        name="FairclockGpuMissing", expression="fairclock_gpus_visible < fairclock_gpus_expected or fairclock_gpu_measuring == 0", lasting="2m", severity="warning",
        summary="a GPU of {{ $labels.instance }} is not there, or not measured", page="gpu-missing",
    ),
    HealthRule(
        name="FairclockStoreDiskLow", expression="fairclock_store_disk_free_bytes / fairclock_store_disk_bytes < 0.10", lasting="5m", severity="warning",
        summary="less than 10 % of the store's disk {{ $labels.disk }} is free", page="store-disk",
    ),
    HealthRule(
        name="FairclockStoreDiskFull", expression="fairclock_store_disk_free_bytes / fairclock_store_disk_bytes < 0.05", lasting="1m", severity="critical",
        summary="less than 5 % of the store's disk {{ $labels.disk }} is free", page="store-disk",
    ),
)  # fmt: skip


def health_group(runbooks: str | None = None) -> dict[str, Any]:
    """Return the rules as a group, with the page of each one: its address under `runbooks`, else its path."""
    return {
        "name": _GROUP,
        "rules": [
            {
                "alert": rule.name,
                "expr": rule.expression,
                "for": rule.lasting,
                "labels": {"severity": rule.severity},
                "annotations": {"summary": rule.summary, **runbook(runbooks, rule.page)},
            }
            for rule in HEALTH_RULES
        ],
    }
