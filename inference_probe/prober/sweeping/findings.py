"""Own what a sweep found, from its file alone: a row a stage, where each objective breaks, where the service is saturated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inference_probe.prober.latencies import figures
from inference_probe.prober.sweeping.objectives import parse_objective
from inference_probe.prober.sweeping.saturation import saturated_from

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from inference_probe.prober.result_files import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFinding:
    """One stage; `figures` is None where it is void or not whole, and then `void` says why. met: by objective, None where not measured.

    late_seconds: how late the prober was, at P99.
    """

    load: float
    kv_cache_ratio: float | None
    late_seconds: float | None
    void: str
    figures: Mapping[str, Any] | None
    met: Mapping[str, bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepFindings:
    """A whole sweep. breaks_at: the first load at which an objective is not kept; None: at none where it was measured.

    unmeasured_at: the loads at which an objective was not measured, void ones among them. saturated_from: the load from which
    on more of it brings hardly more work; None: not reached, or not known. was_cut_short: somebody ended it.
    """

    kind: str
    stages: Sequence[StageFinding]
    breaks_at: Mapping[str, float | None]
    unmeasured_at: Mapping[str, Sequence[float]]
    saturated_from: float | None
    is_saturation_known: bool
    was_cut_short: bool

    def tree(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "kind": self.kind,
            "stages": [
                {
                    "load": each.load,
                    "kv_cache_ratio": each.kv_cache_ratio,
                    "late_p99": each.late_seconds,
                    "void": each.void or None,
                    "figures": each.figures,
                    "objectives_met": dict(each.met),
                }
                for each in self.stages
            ],
            "breaks_at": dict(self.breaks_at),
            "unmeasured_at": {text: list(loads) for text, loads in self.unmeasured_at.items()},
            "saturated_from": self.saturated_from,
            "saturation_known": self.is_saturation_known,
            "cut_short": self.was_cut_short,
        }


def findings(result: Result) -> SweepFindings:
    """Count a sweep's file."""
    objectives = [parse_objective(text) for text in result.header.get("objectives", ())]
    stages = []
    for said in result.stages:
        seen = result.of_stage(int(said["number"]))
        void = str(said["prober"]["void"] or said.get("unmeasured") or "")
        stages.append(
            StageFinding(
                load=float(said["load"]),
                kv_cache_ratio=said["kv_cache_ratio"],
                late_seconds=said["prober"]["lateness"]["p99"],
                void=void,
                figures=None if void else figures(seen),
                met={} if void else {each.text: each.is_met(seen) for each in objectives},
            )
        )
    told = [each for each in stages if each.figures is not None]
    points = sorted(
        (each.load, float(each.figures["requests_per_second"] or 0)) for each in told if each.figures
    )
    index = saturated_from(points)
    planned = [float(each) for each in result.header["schedule"]["loads"]]
    return SweepFindings(
        kind=str(result.header["schedule"]["kind"]),
        stages=stages,
        breaks_at={
            each.text: min((stage.load for stage in told if stage.met[each.text] is False), default=None)
            for each in objectives
        },
        unmeasured_at={
            each.text: [
                load
                for load in planned
                if all(stage.met[each.text] is None for stage in told if stage.load == load)
            ]
            for each in objectives
        },
        saturated_from=None if index is None else points[index][0],
        is_saturation_known=sum(work > 0 for _, work in points) > 1 and points[0][1] > 0,
        was_cut_short=bool(result.header.get("was_stopped")),
    )
