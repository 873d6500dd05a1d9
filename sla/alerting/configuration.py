"""Own the section ``sla.alerts`` of the configuration: which rules watch, and by which thresholds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from fairclock.config import Seconds, Section, Share, refuse
from fairclock.model import Clock  # noqa: TC001 - pydantic reads it when the program runs

if TYPE_CHECKING:
    from fractions import Fraction

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_SHORTEST_WINDOW_SECONDS = 720.0


def _part_of_a_whole(share: Fraction) -> Fraction:
    if share >= 1:
        raise refuse("is never exceeded", "write less than 100%")
    return share


Level = Annotated[Share, AfterValidator(_part_of_a_whole)]
"""A share that something can lie above."""

SeverityName = Literal["critical", "warning", "info"]


class BurnRuleSection(Section):
    """One rule on the pace of a budget."""

    name: str
    """What it is called in alerts and silences."""

    window: Seconds
    """The long window; the short one is a twelfth of it."""

    part: Share
    """Which part of the period's budget is gone after such a window."""

    severity: SeverityName = "critical"
    """How soon somebody has to look."""

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        return named(name)

    @field_validator("window")
    @classmethod
    def _has_whole_minutes(cls, seconds: float) -> float:
        if seconds < _SHORTEST_WINDOW_SECONDS:
            raise refuse(
                "is too short: a twelfth of it has to be a minute, in which requests are counted",
                "write 12min or more",
            )
        return seconds


class BurnSection(Section):
    """A budget that is being used up too fast, in a long window and still in a short one."""

    enabled: bool = True
    """Whether it watches."""

    rules: tuple[BurnRuleSection, ...] = Field(
        default=(),
        examples=[[{"name": "burn-1h", "window": "1h", "part": "2%", "severity": "critical"}]],
    )
    """Rules in place of the usual three: 2 % of the budget in 1 h, 5 % in 6 h, 12 % in 3 days."""

    min_requests: int = Field(default=20, ge=1)
    """Fewer requests in the long window wake nobody."""

    min_bad: int = Field(default=5, ge=1)
    """Nor do fewer bad ones."""


class PaceSection(Section):
    """A budget that is used up faster than it comes, over a day."""

    enabled: bool = True
    """Whether it watches."""

    above: Share = Field(default="200%", validate_default=True)
    """Above how much of the pace that the contract allows."""

    window: Seconds = Field(default="24h", validate_default=True)
    """Over which time."""

    min_requests: int = Field(default=100, ge=1)
    """Fewer requests say nothing."""

    severity: SeverityName = "warning"
    """How soon somebody has to look."""


class QueueShareSection(Section):
    """Waiting that makes up too much of the answers' time."""

    enabled: bool = True
    """Whether it watches."""

    above: Level = Field(default="50%", validate_default=True)
    """Above which share of the whole time."""

    window: Seconds = Field(default="15min", validate_default=True)
    """Over which time."""

    hold: Seconds = Field(default="2min", validate_default=True)
    """For how long it has to be so before it fires."""

    min_requests: int = Field(default=20, ge=1)
    """Fewer requests say nothing."""

    severity: SeverityName = "warning"
    """How soon somebody has to look."""


class KvCacheSection(Section):
    """An engine's KV cache that is nearly full."""

    enabled: bool = True
    """Whether it watches."""

    above: Level = Field(default="80%", validate_default=True)
    """Above which level."""

    hold: Seconds = Field(default="1min", validate_default=True)
    """For how long it has to be so before it fires."""

    severity: SeverityName = "warning"
    """How soon somebody has to look."""


class DiskSection(Section):
    """The store's disks, which fill up; for a server's `fairclock doctor` goes by the same marks."""

    enabled: bool = True
    """Whether it watches."""

    warning: Level = Field(default="10%", validate_default=True)
    """At less than which share of free space somebody has to look."""

    critical: Level = Field(default="5%", validate_default=True)
    """At less than which share somebody has to look at once."""

    hold: Seconds = Field(default="5min", validate_default=True)
    """For how long it has to be so before it fires."""


class LatencyThreshold(Section):
    """A threshold of one's own, which no contract need promise."""

    name: str
    """What it is called in alerts and silences."""

    clock: Clock
    """By which clock."""

    percentile: int = Field(ge=1, le=99)
    """Which percentile."""

    above: Seconds
    """Above how much."""

    during: str | None = None
    """In which named period of the contract's calendar; "not peak" is its complement."""

    contracts: tuple[str, ...] = ("*",)
    """Of which contracts; names may hold * and ?."""

    severity: SeverityName = "warning"
    """How soon somebody has to look."""

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        return named(name)


class LatencySection(Section):
    """Latency above a threshold in a period of the day."""

    enabled: bool = True
    """Whether it watches the objectives that a contract promises for a named period."""

    window: Seconds = Field(default="15min", validate_default=True)
    """Over which time, within the period."""

    min_requests: int = Field(default=20, ge=1)
    """Fewer requests say nothing."""

    severity: SeverityName = "warning"
    """How soon somebody has to look."""

    thresholds: tuple[LatencyThreshold, ...] = Field(
        default=(),
        examples=[[{"name": "peak-ttft", "clock": "time_to_first_token", "percentile": 95, "above": "1s", "during": "peak"}]],
    )  # fmt: skip
    """Thresholds beside those of the contracts."""


class GapSection(Section):
    """Time that nobody read through, and that nothing explains."""

    enabled: bool = True
    """Whether it watches."""

    longest: Seconds = Field(default="10min", validate_default=True)
    """How long a gap may be."""

    window: Seconds = Field(default="1h", validate_default=True)
    """How far back a gap is looked for."""

    severity: SeverityName = "critical"
    """How soon somebody has to look."""

    @model_validator(mode="after")
    def _can_be_found(self) -> GapSection:
        if self.longest >= self.window:
            raise refuse(
                "longest is not shorter than window: no such gap is ever found", "make window longer"
            )
        return self


class SourcesSection(Section):
    """Sources that fell silent, or contradict themselves."""

    enabled: bool = True
    """Whether it watches."""

    silent_after: Seconds = Field(default="10min", validate_default=True)
    """After how long without a word a source is silent."""

    forget_after: Seconds = Field(default="24h", validate_default=True)
    """After how long it is taken to be gone for good."""

    severity: SeverityName = "warning"
    """How soon somebody has to look."""

    @model_validator(mode="after")
    def _can_be_silent(self) -> SourcesSection:
        if self.silent_after >= self.forget_after:
            raise refuse(
                "silent_after is not shorter than forget_after: a source is forgotten before it is silent",
                "make forget_after longer",
            )
        return self


class ProbesSection(Section):
    """Probes that fail where no request was logged: an outage that silences the gateway."""

    enabled: bool = True
    """Whether it watches."""

    min_failed: int = Field(default=2, ge=1)
    """How many in a row have to fail."""

    severity: SeverityName = "critical"
    """How soon somebody has to look."""


class MeasurementSection(Section):
    """Sources that miss probes, differ from each other about them, or whose clocks are apart."""

    enabled: bool = True
    """Whether it watches."""

    window: Seconds = Field(default="1h", validate_default=True, ge=60)
    """Of how long a time probes are looked at."""

    min_probes: int = Field(default=3, ge=1)
    """Fewer probes say nothing; a source that missed as many in a row is silent."""

    clocks_apart: Seconds = Field(default="1s", validate_default=True, gt=0)
    """How far the clocks of two hosts may be apart, or move against each other."""

    severity: SeverityName = "warning"
    """How soon somebody has to look."""


class CostSection(Section):
    """Calls that cost more than the price book's ceilings, and budgets that are exceeded or headed there."""

    enabled: bool = True
    """Whether it watches; it needs billing.prices, and goes by what was rated."""

    min_requests: int = Field(default=20, ge=1)
    """Fewer answered calls of a length class say nothing of its average."""

    stale_after: Seconds = Field(default="26h", validate_default=True)
    """How old the end of what was rated may be to say that all is well; beyond, alerts are frozen."""

    severity: SeverityName = "warning"
    """How soon somebody has to look."""


class AlertsSection(Section):
    """What is watched; docs/alerts.md says what to do when it fires."""

    enabled: bool = True
    """Whether alerts are made at all."""

    keep: Seconds = Field(default="1min", validate_default=True)
    """For how long an alert's condition has to have ended before it is resolved."""

    coverage_floor: Share = Field(default="90%", validate_default=True, le=1)
    """What share of a window has to be read through to say that all is well; below, alerts are frozen."""

    burn: BurnSection = BurnSection()
    pace: PaceSection = PaceSection()
    queue_share: QueueShareSection = QueueShareSection()
    kv_cache: KvCacheSection = KvCacheSection()
    latency: LatencySection = LatencySection()
    gap: GapSection = GapSection()
    sources: SourcesSection = SourcesSection()
    probes: ProbesSection = ProbesSection()
    measurement: MeasurementSection = MeasurementSection()
    cost: CostSection = CostSection()
    disk: DiskSection = DiskSection()

    @model_validator(mode="after")
    def _names_differ(self) -> AlertsSection:
        names = [*(each.name for each in self.burn.rules), *(each.name for each in self.latency.thresholds)]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise refuse(f"two rules are called {twice}", "give each a name of its own")
        return self


def named(name: str) -> str:
    """Return the name of a rule of one's own; refuse what is none, or taken."""
    if not _NAME.fullmatch(name):
        raise refuse("is no name", "write up to 40 small letters, digits and dashes")
    if name in TAKEN:
        raise refuse("is the name of a rule that is there", "choose another")
    return name


TAKEN = frozenset(
    {
        "budget-pace", "cost-budget", "cost-ceiling", "cost-forecast", "disk-full", "disk-low", "kv-cache", "latency-in-period", "measurement-clocks",
        "measurement-differs", "measurement-gap", "measurement-misses", "probes-failed", "queue-share", "source-silent", "source-suspect",
    }
)  # fmt: skip
"""The rules that are always called so."""
