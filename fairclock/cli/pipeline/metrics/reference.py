"""Own the page on metrics: every name that ``/metrics`` may show, what it is, its labels, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from collectors.gateway.syslog.statistics import SyslogStatistics
from collectors.gateway.tailing.statistics import TailStatistics
from collectors.gpu.statistics import GpuStatistics
from collectors.vllm_metrics.scraping.statistics import ScraperStatistics, TargetStatistics
from exporters.clickhouse.writer import WriterStatistics
from exporters.forwarding.forwarder import ForwarderStatistics
from exporters.otlp.requests import RequestStatistics
from exporters.prometheus.aliases import ALIAS_OF
from exporters.prometheus.snapshot import Snapshots
from exporters.spool.statistics import SpoolStatistics
from fairclock.cli.pipeline import figures
from fairclock.cli.pipeline.gpus import gpu_figures
from fairclock.cli.pipeline.metrics import agreements, machines, money, requests
from fairclock.cli.pipeline.metrics.publisher import Publisher, Source
from fairclock.cli.pipeline.passes import Passes
from fairclock.cli.pipeline.spans import span_figures
from fairclock.cli.slice_figures import ABOUT as ABOUT_SLICES
from fairclock.store.batches import IngestCounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from exporters.prometheus.figures import Figure, Kind

_NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """One family as it stands on the page; its name has ``_total`` where it is a counter."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Some families, and what is to be said of all of them."""

    title: str
    about: str
    families: tuple[Described, ...]


def groups() -> tuple[Group, ...]:
    """Return every family."""
    return (_requests(), _contracts(), _money(), _machines(), _aliases(), _collection(), _program())


def page() -> str:
    """Return the text of ``docs/metrics.md``."""
    parts = [_HEAD]
    for group in groups():
        rows = "\n".join(
            f"| `{each.name}` | {each.kind} | {' '.join(f'`{label}`' for label in each.labels)} | {each.about} |"
            for each in group.families
        )
        parts.append(
            f"## {group.title}\n\n{group.about}\n\n| metric | type | labels | what it is |\n|---|---|---|---|\n{rows}\n"
        )
    return "\n".join([*parts, _TAIL])


def _requests() -> Group:
    pair = ("tenant", "model")
    labels = {
        requests.DURATIONS: (*pair, "clock"),
        requests.OUTPUT_TIME: pair,
        requests.QUEUE: pair,
        requests.REQUESTS: (*pair, "outcome"),
        requests.SIMULATED: pair,
        requests.TOKENS_NAME: (*pair, "class"),
    }
    histograms = {requests.DURATIONS, requests.OUTPUT_TIME, requests.QUEUE}
    found = [
        _described(name, requests.ABOUT[name], said, "histogram" if name in histograms else "counter")
        for name, said in labels.items()
    ]
    refused = _described(
        "fairclock_labels_refused",
        "Values of a label without series of their own, as far as they were counted.",
        ("label",),
        "gauge",
    )
    return Group(title="Requests", about=_REQUESTS, families=(*found, refused))


def _contracts() -> Group:
    objective = ("contract", "objective")
    labels = {
        agreements.INFO: ("contract", "tenant", "version"),
        agreements.THRESHOLD: (*objective, "clock"),
        agreements.VERDICT: (*objective, "verdict"),
        agreements.REMAINING: objective,
        agreements.SPENT: objective,
        agreements.BURN: (*objective, "window"),
        agreements.COVERAGE: ("contract", "kind"),
        agreements.INCIDENTS: ("contract",),
        agreements.ALERTS: ("contract", "severity"),
    }
    found = [_described(name, agreements.ABOUT[name], said, "gauge") for name, said in labels.items()]
    counters = {
        "fairclock_sli_requests": (*objective, "counted"),
        "fairclock_sli_covered_seconds": ("contract", "side"),
    }
    found += [_described(name, ABOUT_SLICES[name], said, "counter") for name, said in counters.items()]
    return Group(title="Contracts", about=_CONTRACTS, families=tuple(found))


def _money() -> Group:
    labels = {money.COST: ("tenant", "book", "currency"), money.UNUSED: ("share", "currency")}
    found = tuple(_described(name, money.ABOUT[name], said, "gauge") for name, said in labels.items())
    return Group(title="Money", about=_MONEY, families=found)


def _machines() -> Group:
    gpu, engine = ("host", "gpu", "instance"), ("engine", "model")
    labels = {
        machines.KV_CACHE: engine,
        machines.ENGINE_REQUESTS: (*engine, "state"),
        machines.PREEMPTIONS: engine,
        **dict.fromkeys(machines.GPU_GAUGES, gpu),
        machines.THROTTLED: (*gpu, "reason"),
        machines.GPU_EVENTS: (*gpu, "kind"),
    }
    counters = {machines.PREEMPTIONS, machines.GPU_EVENTS}
    found = tuple(
        _described(name, machines.ABOUT[name], said, "counter" if name in counters else "gauge")
        for name, said in labels.items()
    )
    return Group(title="Engines and GPUs", about=_MACHINES, families=found)


def _aliases() -> Group:
    known = {each.name: each for group in (_requests(), _machines()) for each in group.families}
    found = tuple(
        Described(name=alias, kind=known[name].kind, labels=known[name].labels, about=f"`{name}`.")
        for alias, name in ALIAS_OF.items()
    )
    return Group(title="Aliases", about=_ALIASES, families=found)


def _collection() -> Group:
    counts = {("gateway", "nginx"): IngestCounts(read=1, stored=1, last_event=_NOW)}
    target = TargetStatistics(name="a", url="", scrapes=1, kept_at_us=1)
    shown: list[Iterable[Figure]] = [
        figures.spool_figures(
            SpoolStatistics(
                bytes=0, limit_bytes=0, frames_waiting=0, oldest_unsent_seconds=None, quarantined_segments=0,
                quarantined_bytes=0, missing_segments=0,
            )
        ),
        figures.intake_figures(frames=0, problem="", received=0),
        figures.receiver_figures(ignored=0),
        figures.tail_figures(TailStatistics()),
        figures.syslog_figures(SyslogStatistics()),
        figures.scraper_figures(ScraperStatistics(targets=(target,)), now_us=1),
        gpu_figures(GpuStatistics()),
        figures.forwarder_figures(ForwarderStatistics()),
        figures.writer_figures(
            WriterStatistics(counts=counts, refused={"a": 1}, inserts=0, failures_in_a_row=0, latest_error=""),  # type: ignore[arg-type]
            newest={}, now=_NOW,
        ),
    ]  # fmt: skip
    dead = _described(
        "fairclock_dead_letters", figures.ABOUT_DEAD_LETTERS, ("kind", "source", "reason"), "gauge"
    )
    disks = [
        _described(f"fairclock_store_disk_{name}", about, ("disk",), "gauge")
        for name, about in (
            ("free_bytes", "Bytes that are free on a disk of the store."),
            ("bytes", "Bytes that a disk of the store has."),
        )
    ]
    return Group(title="Collection", about=_COLLECTION, families=(*_of(shown), dead, *disks))


def _program() -> Group:
    passes = Passes()
    passes.add("seals", _Nothing())
    snapshots = Snapshots()
    snapshots.publish((), _NOW)
    publisher = Publisher(
        store=lambda: None, sources=[Source(name="requests", read=lambda _, __: ())], snapshots=snapshots,
        every_seconds=1.0, now=lambda: _NOW,
    )  # fmt: skip
    rest = [_described(name, about, labels, kind) for name, about, labels, kind in _REST]
    found = _of([passes.figures(), publisher.figures(), span_figures(RequestStatistics())])
    return Group(title="The program itself", about=_PROGRAM, families=(*found, *rest))


class _Nothing:
    def step(self, now: datetime) -> None:
        """Do nothing."""


def _of(shown: Iterable[Iterable[Figure]]) -> Iterator[Described]:
    seen = set()
    for each in shown:
        for figure in each:
            if figure.name not in seen:
                seen.add(figure.name)
                yield _described(figure.name, figure.about, tuple(figure.labels), figure.kind)


def _described(name: str, about: str, labels: tuple[str, ...], kind: Kind) -> Described:
    return Described(
        name=f"{name}_total" if kind == "counter" else name, kind=kind, labels=labels, about=about
    )


_REST: tuple[tuple[str, str, tuple[str, ...], Kind], ...] = (
    (
        "fairclock_contract_file_broken",
        "1 while a contract's file is broken or gone, and what it said before stays in force.",
        ("path",),
        "gauge",
    ),
    ("fairclock_contract_versions", "Versions of a contract that are judged by.", ("path",), "gauge"),
    (
        "fairclock_price_book_broken",
        "1 while the price book is broken or gone, and what it said before stays in force.",
        ("path",),
        "gauge",
    ),
    ("fairclock_contract_revision", "Latest revision of a contract's month.", ("contract", "month"), "gauge"),
    ("fairclock_day_seals", "Seals of days written since the start, revisions among them.", (), "counter"),
    (
        "fairclock_day_seals_failing",
        "1 where a receiver of seals did not take the last message.",
        ("receiver",),
        "gauge",
    ),
)

_HEAD = """# Metrics

<!-- Written by docs/make_metrics.py from the program; a test compares. -->

`fairclock up` answers at `/metrics` of `http.address`, and `fairclock collect --listen` with what it has. The answer is
the text format of Prometheus, or OpenMetrics where the scrape asks for it; only OpenMetrics has room for exemplars: the
slowest request of the last minutes of a histogram's series, by its `trace_id`.

- **The same rows.** What is told of requests, contracts and money comes from the rows, slices and entries that reports rest
  on. It is worked out every `metrics.every` in a thread of its own; a scrape is answered with the last that was, whatever the
  store does meanwhile, and `fairclock_snapshot_age_seconds` says how old that is.
- **What is not known is absent**, never 0. What an engine or a GPU said is absent once it is older than
  `metrics.stale_after`.
- **Base units**: seconds, bytes, ratios from 0 to 1. A counter's name ends in `_total`.
- **For whom.** Names of tenants and their money are among it. On an address that is no loopback one they are told only for a
  token (`metrics.token_file`, Prometheus' `authorization.credentials_file`); without one `/metrics` says there how Fairclock
  itself fares, and no more.
- **Bounded.** At most `metrics.max_tenants` tenants, `metrics.max_models` models and `metrics.max_series` pairs of them have
  series of their own, those of contracts first; the rest shares the value `__other__`. A label's value has at most 128
  characters.
"""

_REQUESTS = """A request is counted when the store has it, once, whatever is read, sealed or joined again. A row that comes
late changes what an hour comes to: what is more is added, and what is less is added nowhere until it has been caught up
with, so no counter falls. Durations are of requests that were answered (`outcome="ok"`), as in a report's table of latencies;
what a contract judges otherwise (a timeout is over on every clock) is in `fairclock_sli_requests_total`. An engine's clocks
have only requests whose engine row was found. Every threshold of a contract is an edge of its clock's histograms, for all
tenants while there are at most `metrics.max_thresholds` of them, so that `le="2.0"` counts what a promise of 2 s allows. Clocks begin
where a request was received: of a contract whose clock starts at `connected` the time to connect is not in them.

Counting begins where the scrape left off that an earlier process answered last (`metrics-position.json` beside the spool),
at 0: a restart, or a change of edges, is what Prometheus takes a fall for. A series is told as 0 first, until that was
heard. With two Prometheis it is the one that scraped last that loses nothing. Outcomes are as they were logged; a
contract's own `outcomes:` are applied in its slices. Requests that are marked as simulated, and those of probes, have their own
tenants, or are counted in `fairclock_simulated_requests_total`; a contract looks at its own tenants only."""

_CONTRACTS = """The numbers of the console's overview, from slices and notes: the version that is in force, the month so
far. Budgets and burn are there for objectives that single requests decide; verdicts of the others are those of the last
evaluation, and so is `kind="joined"`. While a budget allows no request at all, what is left of it is no number. Where a new
version came in force within the month, budget and verdict are the worst of all versions' parts, and burn is the new one's. Of a
contract that is not in force, any more or yet, only `fairclock_alerts_firing` is told."""

_MONEY = """The month so far in the price book's zone. `book="charge"` follows the ledger within a minute; `book="cost"` sweeps
the engines' month every ten minutes. The two are never mixed: what machines cost and nobody used is in
`fairclock_cost_of_nobody`, so that the cost book adds up."""

_MACHINES = """What was scraped, and of models that no scraped engine has what the plugin told: the two know an engine by different
names, so that of one model both would count it twice. `engine` is the target's or the instance's name and the rank in it. A
MIG instance has the number of its instance (`2/0`) as `instance`, a whole GPU an empty one. Never add ratios."""

_ALIASES = "Two series under the names by which others know them; `metrics.aliases` says which are published."

_COLLECTION = "What the collectors, the spool and the writer do."

_PROGRAM = """What is worked out, evaluated and sent. `process_*` come from prometheus-client."""

_TAIL = """## Histograms of Prometheus' own kind

prometheus-client writes native histograms only into OpenMetrics 2.0, which no released Prometheus asks for; what Prometheus
takes them by, the protobuf format, it does not write. So the histograms here have classic buckets. A Prometheus 3 can
make native ones of them as it scrapes (`convert_classic_histograms_to_nhcb: true`).

## Size and cost

`python -m benchmarks exposition` measures both with a thousand tenants. What bounds the answer is `metrics.max_series` times the
clocks that are measured times the edges.
"""
