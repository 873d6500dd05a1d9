"""A real store, and lines of engines, gateways and scrapes to fill it with."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from fairclock.model import Interval
from fairclock.store import LineBatch, Query, open_store

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from fairclock.store import Store

START = datetime(2026, 10, 7, 1, tzinfo=UTC)
DAY = Interval(start=START - timedelta(hours=1), end=START + timedelta(hours=23))
TABLES = (
    "gateway_requests", "engine_requests", "engine_states", "engine_samples", "gpu_samples", "gpu_events", "covered",
    "requests", "seals", "seal_confirmations", "sli_slices", "slice_progress", "degradations", "exclusions",
)  # fmt: skip
UPSTREAM = "10.0.0.1:8000"


def at(seconds: float) -> datetime:
    """Return an instant so many seconds after START."""
    return START + timedelta(seconds=seconds)


def _us(seconds: float) -> int:
    return round(START.timestamp() * 1_000_000) + round(seconds * 1_000_000)


class Books:
    """Write what engines and gateways said, at seconds after START; it is stored when somebody looks at the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lines: dict[Any, list[bytes]] = {}

    @property
    def store(self) -> Store:
        """Return the store with all that was written."""
        while self._lines:
            kind, lines = self._lines.popitem()
            counts = self._store.ingest(LineBatch(kind=kind, source="test", lines=lines))
            assert counts.stored == len(lines), counts
        return self._store

    def sample(
        self, at_seconds: float, name: str, value: float, *, target: str = UPSTREAM, **more: Any
    ) -> None:
        column = "whole" if isinstance(value, int) else "fraction"
        line = {
            "at": str(_us(at_seconds)),
            "target": target,
            "kind": "gauge",
            "name": name,
            column: repr(value),
            **more,
        }
        self._ingest("sample", [line])

    def scrapes(
        self,
        seconds: Sequence[float],
        process: float | None,
        *,
        target: str = UPSTREAM,
        reason: str = "HTTP 503",
    ) -> None:
        """Scrape `target` at each of `seconds`: a process that began at `process` answers, or none does."""
        lines: list[dict[str, Any]] = []
        for each in seconds:
            head = {"at": str(_us(each)), "target": target, "kind": "gauge"}
            if process is None:
                lines.append(
                    {**head, "name": "fairclock:scrape_up", "whole": "0", "labels": f'reason="{reason}"'}
                )
                continue
            lines.append({**head, "name": "fairclock:scrape_up", "whole": "1"})
            began = START.timestamp() + process
            lines.append({**head, "name": "process_start_time_seconds", "fraction": repr(began)})
        self._ingest("sample", lines)

    def said(self, at_seconds: float, event: str, *, instance: str = "engine-1", **more: Any) -> None:
        line = {
            "event": event,
            "at_ns": str(_us(at_seconds) * 1000),
            "instance": instance,
            "engine_rank": 0,
            **more,
        }
        self._ingest("engine_state", [line])

    def request(
        self,
        at_seconds: float,
        *,
        number: int,
        upstream: str = UPSTREAM,
        status: int = 200,
        took: float = 1.0,
        instance: str | None = "engine-1",
        tenant: str = "acme",
    ) -> None:
        """Write a request of the gateway's log, and the engine's row of it unless `instance` is None."""
        keys = {
            "time": f"{(_us(at_seconds) + round(took * 1_000_000)) / 1_000_000:.3f}",
            "request_id": f"{number:032x}",
            "traceparent": f"00-{number:032x}-{number:016x}-01",
            "tenant": tenant,
            "method": "POST",
            "uri": "/v1/chat/completions",
            "status": str(status),
            "request_time": f"{took:.3f}",
            "request_completion": "OK",
            "upstream_addr": upstream,
            "upstream_status": str(status),
            "upstream_response_time": f"{took:.3f}",
        }
        self._ingest("gateway", [keys])
        if instance is not None:
            self.engine_row(at_seconds + 0.005, number=number, instance=instance, took=took - 0.01)

    def engine_row(
        self,
        at_seconds: float,
        *,
        number: int,
        instance: str = "engine-1",
        took: float = 0.9,
        **more: Any,
    ) -> None:
        start_ns = _us(at_seconds) * 1000
        keys = {
            "trace_id": f"{number:032x}",
            "span_id": f"{number:016x}",
            "start_ns": str(start_ns),
            "end_ns": str(start_ns + round(took * 1e9)),
            "instance": instance,
            "request_id": f"cmpl-{number:032x}-0",
            "e2e": str(took),
            "queue": "0.001",
            "prefill": "0.01",
            "decode": str(round(took - 0.02, 6)),
            "inference": str(round(took - 0.01, 6)),
            "ttft": "0.05",
            "prompt_tokens": 7,
            "completion_tokens": 11,
            **more,
        }
        self._ingest("engine", [keys])

    def _ingest(self, kind: Any, lines: Sequence[dict[str, Any]]) -> None:
        self._lines.setdefault(kind, []).extend(json.dumps(each).encode() for each in lines)


@pytest.fixture(scope="module")
def one_store(tmp_path_factory: pytest.TempPathFactory) -> Generator[Store]:
    """One engine for a module: a process can open only one folder."""
    with open_store(f"chdb://{tmp_path_factory.mktemp('lives') / 'store'}") as store:
        yield store


@pytest.fixture
def books(one_store: Store) -> Books:
    """The module's store, empty, and a hand that writes into it."""
    for table in TABLES:
        one_store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return Books(one_store)
