"""Two tenants as the console's tests have them, with engines, GPUs, MIG instances and credits beside."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from fairclock.cli.evaluating import count_slices
from fairclock.store import LineBatch
from fairclock.store.ledger import CREDIT_COLUMNS
from fairclock.store.stamping import insert_stamped
from sla.slices import in_force
from tests.console.scene import BOOK, MINE, OTHER, a_scene

if TYPE_CHECKING:
    from collections.abc import Sequence

    from billing.bookkeeping.price_books import BookPrices
    from fairclock.store import Store
    from tests.console.scene import Scene

GPU, MIG = "GPU-5151ca7e", "MIG-77aa"


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What was written, and as of when minutes are counted."""

    scene: Scene
    as_of: datetime
    start: datetime
    end: datetime

    @property
    def store(self) -> Store:
        return self.scene.store


def a_shown_scene(
    store: Store, now: datetime, *, tenants: Sequence[str] = (MINE, OTHER), book: BookPrices = BOOK
) -> Shown:
    """Write everything that a dashboard can show."""
    scene = a_scene(store, now, tenants=tenants, book=book)
    store.ingest(LineBatch(kind="sample", source="scraper", lines=list(_samples(scene.began))))
    store.ingest(LineBatch(kind="gpu", source="gpus", lines=list(_gpus(scene.began))))
    store.ingest(
        LineBatch(
            kind="gpu_event", source="gpus", lines=list(gpu_event_lines(scene.began + timedelta(minutes=21)))
        )
    )
    _credit(store, now)
    store.seal()
    as_of = store.watermark()
    versions = [each for contract in scene.contracts for each in in_force(store, contract, as_of)]
    count_slices(store, versions, as_of=as_of)
    return Shown(
        scene=scene,
        as_of=as_of,
        start=scene.began.replace(minute=0) - timedelta(minutes=1),
        end=now + timedelta(minutes=1),
    )


def _us(at: datetime) -> int:
    return round(at.timestamp() * 1_000_000)


def _samples(began: datetime):
    for minute in range(0, 120, 5):
        for name, kind, value in (
            ("vllm:num_requests_running", "gauge", 7),
            ("vllm:num_preemptions", "counter", minute if minute < 60 else minute - 60),
        ):
            said = {
                "at": str(_us(began + timedelta(minutes=minute))),
                "target": "10.0.0.1:8000",
                "kind": kind,
                "name": name,
            }
            yield json.dumps(said | {"whole": repr(value), "model": "deepseek-v4"}).encode()  # fmt: skip


def _gpus(began: datetime):
    for minute in range(120):
        second = int(began.timestamp()) + 60 * minute
        shared = {
            "second": second,
            "host": "node-1",
            "collector": "nvml",
            "state": "ok",
            "samples": 5,
            "name": "H200",
        }
        figures = {
            "utilization_ratio": 0.8,
            "memory_used_bytes": 60_000_000_000,
            "power_milliwatts": 550_000,
            "temperature_celsius": 71.0,
        }
        folded = {f"{name}_{end}": value for name, value in figures.items() for end in ("mean", "min", "max")}
        throttled = {"throttle_reasons": 4 if minute % 10 == 0 else 0, "memory_total_bytes": 80_000_000_000}
        yield json.dumps(shared | folded | throttled | {"gpu": GPU}).encode()
        # an instance does not say how busy it is
        memory = {name: value for name, value in folded.items() if name.startswith("memory_used")}
        about = {"gpu": MIG, "parent": GPU, "gpu_instance": 3, "profile": "1g.18gb"}
        yield json.dumps(shared | memory | about).encode()  # fmt: skip


def gpu_event_lines(at: datetime, *, first: int = 1):
    """Yield what happened to the GPU from `at` on, numbered from `first`."""
    for number, (event, code) in enumerate((("xid", 79), ("xid", 79), ("throttle_began", None))):
        said = {
            "event": event, "at_us": _us(at + timedelta(minutes=number)), "sequence": first + number, "host": "node-1",
            "collector": "nvml", "gpu": GPU, "detail": "fell off the bus",
        }  # fmt: skip
        yield json.dumps(said | ({} if code is None else {"code": code})).encode()


def _credit(store: Store, now: datetime) -> None:
    said = {
        "id": "cr-1", "sequence": 1, "contract": "acme-agreement", "month": "2026-10", "objective": "availability", "revision": 1,
        "state": "claimable", "currency": "CNY", "amount": "12.5", "opens_at": now, "closes_at": now + timedelta(days=30),
        "decide_by": None, "author": "", "comment": "", "evidence": "", "body": "{}",
    }  # fmt: skip
    columns = [name for name in CREDIT_COLUMNS if name != "stored_at"]
    insert_stamped(store, "credits", columns, [[said[name] for name in columns]])
