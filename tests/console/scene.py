"""Two tenants that know nothing of each other: their contracts, traffic, incidents, exclusions, alerts, probes, money."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from billing.bookkeeping.price_books import BookPrices, keep_versions
from billing.bookkeeping.rating import rate
from billing.prices.loading import load_price_book
from exporters.webhooks.event import AlertEvent, Severity, State, event_text
from fairclock.model import Interval
from fairclock.model.probes import Probe, ProbeOutcome
from fairclock.store import LineBatch
from fairclock.store.probes import keep_probes
from fairclock.store.stamping import insert_stamped
from sla.evaluation import evaluate
from sla.incidents.noticing import notice_incidents
from sla.proposals import Proposed, propose
from sla.revisions import keep_revision
from sla.slices import evaluate_slices, in_force
from tests.evaluation.factories import a_contract, availability, latency
from tests.ledger.factories import a_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.store import Store
    from sla.contracts import Contract

MINE, OTHER = "acme", "zebra"
FOREIGN = ("zebra", "Zebra", "quagga", "10.9.9.9", "engine-z", "Striped")
"""What only the other tenant's figures hold: names, ids, models, machines."""
BOOK = BookPrices(load_price_book(Path(__file__).parents[1] / "ledger" / "prices.yaml"))
"""The prices; their months begin in Shanghai."""
_MODELS = {MINE: "deepseek-v4", OTHER: "quagga-7b"}
_UPSTREAMS = {MINE: "10.0.0.1:8000", OTHER: "10.9.9.9:8000"}
_ENGINES = {MINE: "engine-a", OTHER: "engine-z"}


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What was written: when, for which month, under which contracts."""

    store: Store
    now: datetime
    began: datetime
    month: str
    contracts: list[list[Contract]]


def a_scene(
    store: Store, now: datetime, *, tenants: Sequence[str] = (MINE, OTHER), book: BookPrices = BOOK
) -> Scene:
    """Write two hours of `tenants`' traffic that ended half an hour before `now`, and all that follows from it.

    Months are anniversaries of a day two weeks ago, so that whenever this runs it is the middle of one.
    """
    first_day = (now - timedelta(days=15)).date()
    began = (now - timedelta(minutes=150)).replace(second=0, microsecond=0)
    contracts = [[_contract(tenant, first_day)] for tenant in tenants]
    for number, tenant in enumerate(tenants):
        _traffic(store, tenant, began, first=number * 100_000)
    window = Interval(start=began - timedelta(minutes=5), end=began + timedelta(hours=2))
    for engine in _ENGINES.values():
        store.cover(kind="gateway", source=f"{engine}-gateway", intervals=[window])
        store.cover(kind="engine", source=f"{engine}-spans", intervals=[window])
    _samples(store, began)
    month = f"{first_day:%Y-%m}"
    for versions in contracts:
        _said(store, versions[0], began, now)
    _money(store, began, now, book)
    known = store.watermark()
    counted = [each for versions in contracts for each in in_force(store, versions, known)]
    evaluate_slices(store, counted, as_of=known)
    notice_incidents(store, counted)
    for versions in contracts:
        report = evaluate(store, versions, month=month, as_of=store.watermark(), software_version="0.0.0")
        keep_revision(store, report, inputs="inputs")
    return Scene(store=store, now=now, began=began, month=month, contracts=contracts)


def _contract(tenant: str, first_day: Any) -> Contract:
    names = {MINE: "Acme Finance", OTHER: "Zebra Striped Bank"}
    return a_contract(
        id=f"{tenant}-agreement",
        title={"en": f"Agreement with {names[tenant]}", "zh": f"与 {names[tenant]} 的协议"},
        customer={"name": names[tenant], "tenants": [tenant]},
        term={
            "from": str(first_day),
            "to": str(first_day + timedelta(days=300)),
            "time_zone": "Asia/Shanghai",
        },
        period={"month": "anniversary", "partial": "prorated"},
        objectives=[
            latency(at_most="2s"),
            latency(clock="queue", percentile="95", at_most="500ms"),
            latency(clock="inference", percentile="95", at_most="1s"),
            availability(),
        ],
        exclusions={
            "maintenance": {"notice": "72h", "notice_to": [f"sla@{tenant}.example"], "cap_per_month": "4h", "emergency": "counts"},
            "named": ["force_majeure"],
        },
    )  # fmt: skip


def _traffic(store: Store, tenant: str, began: datetime, *, first: int) -> None:
    """Write a request every ten seconds: in the second hour's start, minutes of errors; every seventh waits long."""
    gateway, engine = [], []
    for place in range(720):
        received = began + timedelta(seconds=10 * place)
        number = first + place
        failed = 360 <= place < 400
        took, queue = (3.0, 2.2) if place % 7 == 0 else (0.8, 0.05)
        status = "500" if failed else "200"
        gateway.append(gateway_line(tenant, number, received, took=took, status=status))
        if not failed and place % 50:
            engine.append(_engine_line(tenant, number, received, took=took, queue=queue))
    store.ingest(LineBatch(kind="gateway", source=f"{_ENGINES[tenant]}-gateway", lines=gateway))
    store.ingest(LineBatch(kind="engine", source=f"{_ENGINES[tenant]}-spans", lines=engine))


def gateway_line(tenant: str, number: int, received: datetime, *, took: float, status: str) -> bytes:
    """Return the line of one request."""
    keys = {
        "time": f"{received.timestamp() + took:.3f}",
        "request_id": f"{tenant}-{number}",
        "traceparent": f"00-{number + 1:032x}-{number + 1:016x}-01",
        "tenant": tenant,
        "method": "POST",
        "uri": "/v1/chat/completions",
        "model": _MODELS[tenant],
        "status": status,
        "request_time": f"{took:.3f}",
        "request_completion": "OK",
        "upstream_addr": _UPSTREAMS[tenant],
        "upstream_status": status,
        "prompt_tokens": "100",
        "completion_tokens": "11",
        "simulated": "true",
    }
    return json.dumps(keys).encode()


def _engine_line(tenant: str, number: int, received: datetime, *, took: float, queue: float) -> bytes:
    start_ns = int((received.timestamp() + 0.004) * 1e6) * 1000
    inside = took - 0.02
    keys = {
        "trace_id": f"{number + 1:032x}",
        "span_id": f"{number + 1:016x}",
        "start_ns": str(start_ns),
        "end_ns": str(start_ns + int(inside * 1e9)),
        "instance": _ENGINES[tenant],
        "model": _MODELS[tenant],
        "request_id": f"cmpl-{tenant}-{number}-0",
        "e2e": f"{inside:.6f}",
        "queue": f"{queue:.6f}",
        "prefill": "0.100000",
        "decode": f"{inside - queue - 0.15:.6f}",
        "inference": f"{inside - queue - 0.05:.6f}",
        "ttft": f"{queue + 0.12:.6f}",
        "prompt_tokens": 100,
        "completion_tokens": 11,
        "finish_reason": "stop",
    }
    return json.dumps(keys).encode()


def _samples(store: Store, began: datetime) -> None:
    lines = []
    for tenant in (MINE, OTHER):
        for minute in range(0, 120, 5):
            us = round((began + timedelta(minutes=minute)).timestamp() * 1_000_000)
            for name, value in (("vllm:num_requests_waiting", 3), ("vllm:kv_cache_usage_perc", 0.5)):
                column = "whole" if isinstance(value, int) else "fraction"
                said = {
                    "at": str(us),
                    "target": _UPSTREAMS[tenant],
                    "kind": "gauge",
                    "name": name,
                    column: repr(value),
                }
                lines.append(json.dumps(said | {"model": _MODELS[tenant]}).encode())
    store.ingest(LineBatch(kind="sample", source="scraper", lines=lines))


def _said(store: Store, contract: Contract, began: datetime, now: datetime) -> None:
    """Write an exclusion, an alert and probes of one tenant."""
    (tenant,) = contract.customer.tenants
    propose(
        store,
        contract,
        Proposed(
            clause="maintenance", starts_at=now + timedelta(days=5), ends_at=now + timedelta(days=5, hours=1),
            reason=f"new machines for {tenant}", author=f"{tenant}'s provider",
            notice_at=now, notice_to=(f"sla@{tenant}.example",),
        ),
        now=now,
    )  # fmt: skip
    event = AlertEvent(
        alert_id=f"{contract.id}/availability/burn-fast/0123abcd/1", sequence=1, state=State.FIRING,
        severity=Severity.CRITICAL, at=now, since=now - timedelta(minutes=5), contract_id=contract.id,
        rule="burn-fast", objective="availability", tenants=(tenant,),
        summary_en=f"availability of {contract.id} uses up its error budget", summary_zh=f"{contract.id} 的错误预算",
    )  # fmt: skip
    insert_stamped(
        store,
        "alerts",
        ("alert_id", "sequence", "event_id", "state", "severity", "contract", "objective", "changed_at", "event"),
        [[event.alert_id, 1, event.event_id, "firing", "critical", contract.id, "availability", now, event_text(event)]],
    )  # fmt: skip
    keep_probes(
        store,
        [
            Probe(
                id=f"{tenant}-{(0 if tenant == MINE else 100_000) + 6 * minute}",
                target=f"https://{_UPSTREAMS[tenant]}",
                probe=f"probe-{tenant}",
                tenant=tenant,
                model=_MODELS[tenant],
                outcome=ProbeOutcome.OK if minute % 9 else ProbeOutcome.TIMEOUT,
                intended_at=began + timedelta(minutes=minute),
                sent_at=began + timedelta(minutes=minute, milliseconds=3),
                first_token_us=180_000,
                done_us=830_000,
            )
            for minute in range(60)
        ],
    )


def _money(store: Store, began: datetime, now: datetime, book: BookPrices) -> None:
    """Rate an hour of both tenants, in the price book's month; a date it has no price for rates nothing."""
    keep_versions(store, book.book, until=now)
    hour = began.replace(minute=0)
    said = {"start": hour, "end": hour + timedelta(hours=1), "hour": hour, "machine": ""}
    usages = [
        a_usage(**said, tenant=tenant, model=model, requests=requests, uncached_prompt_tokens=0, cached_prompt_tokens=0,
                completion_tokens=50_000_000, gpu_picoseconds=0)
        for tenant, model, requests in ((MINE, "deepseek-v4", 1_000), (OTHER, "deepseek-v4", 777_777))
    ]  # fmt: skip
    month = f"{hour.astimezone(book.book.zone):%Y-%m}"
    rate(
        store,
        lambda _: usages,
        book.months.interval(month),
        as_of=store.watermark(),
        prices=book,
        months=book.months,
    )
