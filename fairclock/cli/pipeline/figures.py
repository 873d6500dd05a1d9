"""Own which figures of the running parts are published, and under which names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from exporters.prometheus import Figure
from fairclock.errors import StoreReadOnly
from fairclock.store import Query
from fairclock.store.disks import disks
from fairclock.store.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from collectors.gateway.syslog import SyslogStatistics
    from collectors.gateway.tailing import TailStatistics
    from collectors.vllm_metrics.scraping.statistics import ScraperStatistics
    from exporters.clickhouse import WriterStatistics
    from exporters.forwarding.forwarder import ForwarderStatistics
    from exporters.spool import SpoolStatistics
    from fairclock.store import Store

_REMEMBERED_DAYS = 35
_US_PER_SECOND = 1_000_000
ABOUT_DEAD_LETTERS = "Dead letters that are kept (for 14 days), by reason."


def spool_figures(spool: SpoolStatistics) -> Iterator[Figure]:
    """Yield how much waits, and for how long."""
    for name, about, value in (
        ("spool_frames", "Frames that were collected and are not delivered.", spool.frames_waiting),
        ("spool_bytes", "Bytes that the spool takes on the disk.", spool.bytes),
        ("spool_limit_bytes", "Bytes that the spool may take on the disk.", spool.limit_bytes),
        (
            "spool_oldest_unsent_seconds",
            "Age of the oldest frame that is not delivered; 0 where none waits.",
            spool.oldest_unsent_seconds or 0.0,
        ),
        ("spool_quarantined_segments", "Damaged segments.", spool.quarantined_segments),
        ("spool_quarantined_bytes", "Bytes in them that could not be read.", spool.quarantined_bytes),
        (
            "spool_missing_segments",
            "Segments that were gone when the spool was opened.",
            spool.missing_segments,
        ),
    ):
        yield Figure(name=f"fairclock_{name}", about=about, value=value)


def writer_figures(
    writer: WriterStatistics, *, newest: Mapping[tuple[str, str], datetime], now: datetime
) -> Iterator[Figure]:
    """Yield what became of the rows; `newest` is what the store held of each kind and source at the start."""
    about = "Lines and spans, by what became of them."
    for (kind, source), counts in sorted(writer.counts.items()):
        for outcome, value in (
            ("stored", counts.stored),
            ("duplicate", counts.duplicates),
            ("ignored", counts.ignored),
            ("dead_letter", counts.dead_letters),
        ):
            labels = {"kind": kind, "source": source, "outcome": outcome}
            yield Figure(name="fairclock_rows", about=about, value=value, labels=labels, kind="counter")
    for reason, value in sorted(writer.refused.items()):
        yield Figure(
            name="fairclock_refused_rows", about="Rows that the store did not take, by reason.", value=value,
            labels={"reason": reason}, kind="counter",
        )  # fmt: skip
    yield Figure(
        name="fairclock_inserts", about="Batches that were handed to the store.", value=writer.inserts,
        kind="counter",
    )  # fmt: skip
    yield Figure(
        name="fairclock_store_failures", about="Failures in a row of writing to the store; 0 while it works.",
        value=writer.failures_in_a_row,
    )  # fmt: skip
    latest = dict(newest)
    for key, counts in writer.counts.items():
        if counts.last_event is not None:
            latest[key] = max(latest.get(key, counts.last_event), counts.last_event)
    for (rows, origin), instant in sorted(latest.items()):
        yield Figure(
            name="fairclock_newest_row_age_seconds", about="Age of the newest event that was stored.",
            value=(now - instant).total_seconds(), labels={"kind": rows, "source": origin},
        )  # fmt: skip


def forwarder_figures(forwarder: ForwarderStatistics) -> Iterator[Figure]:
    """Yield what was forwarded."""
    for name, about, value in (
        ("forwarded_frames", "Frames that were forwarded.", forwarder.frames),
        ("forwarded_batches", "Requests that carried them.", forwarder.batches),
        ("forwarded_bytes", "Bytes of their bodies.", forwarder.body_bytes),
        (
            "forward_failures",
            "Requests that came to nothing, and were or will be repeated.",
            forwarder.failures,
        ),
    ):
        yield Figure(name=f"fairclock_{name}", about=about, value=value, kind="counter")
    yield Figure(
        name="fairclock_forwarding", about="1 while frames go through, 0 while they do not.",
        value=not forwarder.problem,
    )  # fmt: skip


def receiver_figures(*, ignored: int) -> Iterator[Figure]:
    """Yield what became of what came by OTLP and is no engine's."""
    yield Figure(
        name="fairclock_otlp_ignored", about="Spans and log records that were passed over: no request of an engine.",
        value=ignored, kind="counter",
    )  # fmt: skip


def tail_figures(tail: TailStatistics) -> Iterator[Figure]:
    """Yield what became of the log files."""
    for name, about, value in (
        ("tail_lines", "Lines that were read and kept.", tail.lines),
        ("tail_lost_files", "Files that were gone before they were read to their end.", tail.lost_files),
    ):
        yield Figure(name=f"fairclock_{name}", about=about, value=value, kind="counter")
    for name, about, value in (
        ("tail_files", "Log files that are open.", tail.files),
        ("tail_missing_files", "Log files that are not there.", tail.missing),
        ("tail_unread_bytes", "Bytes of open log files that were not kept yet.", tail.unread_bytes),
        ("tail_paused", "1 while nothing can be kept.", bool(tail.paused)),
    ):
        yield Figure(name=f"fairclock_{name}", about=about, value=value)


def syslog_figures(syslog: SyslogStatistics) -> Iterator[Figure]:
    """Yield what became of the lines that came as syslog."""
    for name, about, value in (
        ("syslog_lines", "Lines that were received and kept.", syslog.lines),
        ("syslog_lost", "Datagrams that were not kept, as far as that is known.", syslog.lost),
    ):
        yield Figure(name=f"fairclock_{name}", about=about, value=value, kind="counter")
    for name, about, value in (
        ("syslog_waiting_bytes", "Bytes of lines that were not kept yet.", syslog.waiting_bytes),
        ("syslog_connections", "Connections that are open.", syslog.connections),
        ("syslog_paused", "1 while nothing can be kept.", bool(syslog.paused)),
    ):
        yield Figure(name=f"fairclock_{name}", about=about, value=value)


def scraper_figures(scraper: ScraperStatistics, *, now_us: int) -> Iterator[Figure]:
    """Yield how each target is doing."""
    for target in scraper.targets:
        labels = {"target": target.name}
        for name, about, value in (
            ("scrapes", "Answers of engines that were kept.", target.scrapes),
            ("scrape_failures", "Tries to scrape that came to nothing.", target.failures),
        ):
            yield Figure(name=f"fairclock_{name}", about=about, value=value, labels=labels, kind="counter")
        up = bool(target.scrapes) and not target.problem
        yield Figure(
            name="fairclock_scrape_up",
            about="1 while the engine answers, 0 while it does not.",
            value=up,
            labels=labels,
        )
        yield Figure(
            name="fairclock_scrape_seconds",
            about="How long its last answer took.",
            value=target.seconds,
            labels=labels,
        )
        if target.kept_at_us is not None:
            yield Figure(
                name="fairclock_scrape_age_seconds", about="Age of its last answer.",
                value=(now_us - target.kept_at_us) / _US_PER_SECOND, labels=labels,
            )  # fmt: skip
    yield Figure(
        name="fairclock_scrape_discovery_problems",
        about="Files and names that should name engines and cannot be read.",
        value=len(scraper.problems),
    )


def intake_figures(*, frames: int, problem: str, received: int) -> Iterator[Figure]:
    """Yield what the spool took."""
    for name, about, value in (
        ("collected_frames", "Frames that the spool took.", frames),
        ("received_frames", "Those of them that came from sidecars.", received),
    ):
        yield Figure(name=f"fairclock_{name}", about=about, value=value, kind="counter")
    yield Figure(
        name="fairclock_collecting", about="1 while the spool takes frames, 0 while it does not.",
        value=not problem,
    )  # fmt: skip


def dead_letter_figures(store: Store) -> list[Figure]:
    """Return how many dead letters the store keeps, by kind, source and reason."""
    query = Query(
        sql="SELECT kind, source, reason, count() FROM dead_letters FINAL GROUP BY kind, source, reason ORDER BY ALL"
    )
    return [
        Figure(
            name="fairclock_dead_letters", about=ABOUT_DEAD_LETTERS, value=count,
            labels={"kind": kind, "source": source, "reason": reason},
        )
        for kind, source, reason, count in store.rows(query)
    ]  # fmt: skip


def disk_figures(store: Store) -> list[Figure]:
    """Return how much room the store's disks have; none where its account may not look."""
    try:
        found = disks(store)
    except StoreReadOnly:
        return []
    return [
        Figure(name=f"fairclock_store_disk_{name}", about=about, value=value, labels={"disk": disk.name})
        for disk in found
        for name, about, value in (
            ("free_bytes", "Bytes that are free on a disk of the store.", disk.free_bytes),
            ("bytes", "Bytes that a disk of the store has.", disk.total_bytes),
        )
    ]


def newest_rows(store: Store, *, now: datetime) -> dict[tuple[str, str], datetime]:
    """Return the newest event of each kind and source in the last weeks."""
    since = (now - timedelta(days=_REMEMBERED_DAYS)).astimezone(UTC)
    newest = (
        f"SELECT '{kind.name}', source, max({kind.time_column}) FROM {kind.table}"  # noqa: S608 - names of our own
        f" WHERE {kind.time_column} >= {{since:DateTime64(6, 'UTC')}} GROUP BY source"
        for kind in KINDS.values()
    )
    query = Query(sql=" UNION ALL ".join(newest), parameters={"since": since})
    return {(kind, source): instant for kind, source, instant in store.rows(query)}
