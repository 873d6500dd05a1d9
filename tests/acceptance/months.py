"""Own invented months: traffic, contracts and what was read through, drawn from one seed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from tests.acceptance.commands import Worker, ingest
from tests.acceptance.comparing import differences, parsed
from tests.acceptance.contracts import random_contract, write_contract
from tests.acceptance.oracle.contract import from_us, period_us, to_us
from tests.acceptance.oracle.report import expected_report
from tests.acceptance.quarrels import evicted, impossible, repeated_id, retried, several_sequences
from tests.acceptance.scenes import answered, cut_short, orphan, refused
from tests.acceptance.traffic import MS, SECOND, Traffic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

TENANTS = (["acme"], ["数据公司", "acme"], ["\"'; DROP TABLE requests; --"])
_HOUR_US = 3_600 * SECOND

SCENES: dict[Callable[[Traffic, int], None], int] = {
    answered: 50,
    refused: 12,
    cut_short: 12,
    several_sequences: 6,
    retried: 6,
    repeated_id: 8,
    evicted: 3,
    impossible: 5,
    orphan: 2,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class InventedMonth:
    """The files of one month and what is known about them."""

    name: str
    gateway: list[Path]
    engine: list[Path]
    contracts: list[Path]
    covers: dict[str, list[tuple[int, int]]]

    def ingest(self, worker: Worker) -> None:
        """Put it all into the worker's store."""
        for kind, files in (("gateway", self.gateway), ("otlp", self.engine)):
            for start, end in self.covers["gateway" if kind == "gateway" else "engine"]:
                ingest(worker, kind, files, (from_us(start).isoformat(), from_us(end).isoformat()))

    def expected(self, contract: Path, as_of: str) -> dict[str, Any]:
        """Return what the oracle makes of it."""
        return expected_report(
            contract=contract,
            month=self.name,
            gateway=self.gateway,
            engine=self.engine,
            covers=self.covers,
            as_of_us=to_us(datetime.fromisoformat(as_of)),
        )

    def differences(self, contract: Path, report: bytes) -> list[str]:
        """Return where a report is not what the oracle expects."""
        found = parsed(report)
        return differences(self.expected(contract, found["as_of"]), found)


def invent(folder: Path, *, seed: int, zone: str, month: str, scenes: int = 350) -> InventedMonth:
    """Invent a month of the contracts' zone; equal seeds, equal bytes."""
    random = Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    contracts = [
        write_contract(
            random_contract(random, name=f"contract-{number}", zone=zone, month=month, tenants=tenants),
            folder,
        )
        for number, tenants in enumerate(TENANTS)
    ]
    start, end = period_us({"term": {"from": "2026-01-01", "to": "2026-12-31", "time_zone": zone}}, month)
    traffic = Traffic(random=random)
    _fill(traffic, start_us=start, end_us=end, scenes=scenes, moments=_changes(start, end, zone))
    gateway, engine = traffic.write(folder / "raw")
    third = (end - start) // 3
    return InventedMonth(
        name=month,
        gateway=[gateway],
        engine=[engine],
        contracts=contracts,
        covers={
            # the month before, too, in half of the months: what it carries over depends on it
            "gateway": [(start - (40 * 24 if seed % 2 else 2) * _HOUR_US, end + _HOUR_US)],
            "engine": [(start - _HOUR_US, start + third), (start + third + 9 * _HOUR_US + 1, end)],
        },
    )


def _changes(start: int, end: int, zone: str) -> list[int]:
    """Return the instants at which the zone's clocks change."""

    def offset(instant: int) -> object:
        return from_us(instant, ZoneInfo(zone)).utcoffset()

    quarters = range(start, end, 900 * SECOND)
    return [at for at in quarters if offset(at) != offset(at - 1)]


def _fill(traffic: Traffic, *, start_us: int, end_us: int, scenes: int, moments: Sequence[int] = ()) -> None:
    """Let `scenes` things happen in `[start, end)` and a little around it: in bursts, at edges, at `moments`."""
    r = traffic.random
    kinds, weights = list(SCENES), list(SCENES.values())
    edges = [start_us, start_us - MS, start_us + MS, end_us - MS, end_us, end_us - 2 * MS, end_us + MS]
    hours = [instant - instant % (3_600 * SECOND) for instant in (start_us, (start_us + end_us) // 2)]
    bursts = [r.randrange(start_us - 3_600 * SECOND, end_us + 3_600 * SECOND) for _ in range(scenes // 25)]
    for edge in edges:
        answered(traffic, edge)
        refused(traffic, edge)
    while scenes > 0:
        scenes -= 1
        near = r.choice((r.choice(bursts), r.choice(bursts), r.choice(hours), r.choice(edges)))
        at = near + r.randint(-20, 20) * SECOND + r.randint(0, 999) * MS
        if moments and r.random() < 0.15:
            at = r.choice(moments) + r.choice((-3_600, -1_800, -900, 0, 900, 1_800, 3_600)) * SECOND
            at += r.choice((-1, 0, 1)) * MS if r.random() < 0.3 else r.randint(-900_000, 900_000) * MS
        r.choices(kinds, weights)[0](traffic, at - at % MS)
