"""Own the checks of the store: reachable, of this program's schema, in step with this machine's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.cli.diagnosis.disks import disk_findings
from fairclock.cli.diagnosis.finding import error, from_error, ok, warning
from fairclock.cli.diagnosis.plugin import plugin_findings
from fairclock.cli.diagnosis.series import series_findings
from fairclock.errors import FairclockError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairclock.cli.diagnosis.finding import Finding
    from fairclock.store.inspection import StoreInspection
    from sla.alerting.configuration import DiskSection

_STORE, _SCHEMA, _CLOCK = "store", "schema", "store's clock"
_FAR_SECONDS = 2.0


def store_findings(
    dsn: str, shown: str, *, inspect: Callable[[str], StoreInspection], marks: DiskSection
) -> Iterator[Finding]:
    """Look at the store at `dsn`, which is `shown` without its password; its disks by `marks`."""
    try:
        found = inspect(dsn)
    except ModuleNotFoundError as missing:
        yield error(
            _STORE,
            f"{shown} needs the Python package {missing.name}, which is not installed",
            "pip install 'fairclock[store]', or name a server: clickhouse://…",
        )
        return
    except FairclockError as problem:
        yield from_error(_STORE, problem)
        return
    if not found.exists:
        yield ok(_STORE, f"{shown} is not there yet; its first use makes it")
        return
    yield ok(
        _STORE,
        f"{shown}{', served by another process' if found.is_served else ''}, ClickHouse {found.server_version}",
    )
    yield _schema(found)
    if abs(found.clock_ahead_seconds) > _FAR_SECONDS:
        yield warning(
            _CLOCK,
            f"differs from this machine's by {found.clock_ahead_seconds:+.1f} s",
            "let both machines keep time by NTP",
        )
    else:
        yield ok(_CLOCK, f"differs from this machine's by {found.clock_ahead_seconds:+.1f} s")
    yield from disk_findings(found.disks, low=marks.warning, full=marks.critical)
    yield from series_findings(found.engines)
    yield from plugin_findings(found.plugin)


def _schema(found: StoreInspection) -> Finding:
    if found.schema > found.newest_schema:
        return error(
            _SCHEMA,
            f"is newer than this program ({found.schema}, this program knows {found.newest_schema})",
            "upgrade this Fairclock",
        )
    if found.schema == found.newest_schema:
        return ok(_SCHEMA, f"{found.schema}, current")
    if found.is_embedded and not found.is_served:
        return ok(_SCHEMA, f"{found.schema}; its next use makes it {found.newest_schema}")
    return error(
        _SCHEMA,
        f"is older than this program ({found.schema}, this program needs {found.newest_schema})",
        "restart the process that serves it" if found.is_served else "run fairclock migrate",
    )
