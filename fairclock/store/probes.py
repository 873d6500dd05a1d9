"""Own the rows about probes: only ever added, each under a stamp, read as of an instant; the first copy of an id holds."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from fairclock.model import to_us
from fairclock.model.probes import Probe, ProbeOutcome
from fairclock.store.query import Query
from fairclock.store.stamping import insert_stamped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.model import Interval
    from fairclock.store import Store

COLUMNS = tuple(field.name for field in fields(Probe))
"""What of `probe_requests` is a probe's own."""

_ERROR_CHARACTERS = 500


class Rows(Protocol):
    """Whatever answers queries; `fairclock.store.Store` does."""

    def rows(self, query: Query) -> Sequence[Sequence[Any]]:
        """Return the rows of `query`."""


WITHIN = (
    "intended_at >= fromUnixTimestamp64Micro({probes_from:Int64}, 'UTC')"
    " AND intended_at < fromUnixTimestamp64Micro({probes_to:Int64}, 'UTC')"
    " AND stored_at <= fromUnixTimestamp64Micro({probes_known:Int64}, 'UTC')"
)
"""That a row of ``probe_requests`` is of a window and was known at an instant; its parameters are those of `within`."""


def within(window: Interval, as_of: datetime) -> dict[str, object]:
    """Return the parameters of `WITHIN`."""
    return {
        "probes_from": to_us(window.start),
        "probes_to": to_us(window.end),
        "probes_known": to_us(as_of),
    }


def keep_probes(store: Store, probes: Sequence[Probe]) -> None:
    """Add what is said of some probes; of a probe that is added again the first row holds."""
    if probes:
        insert_stamped(store, "probe_requests", COLUMNS, [row_of(each) for each in probes])


def probes_as_of(
    store: Rows,
    window: Interval,
    as_of: datetime,
    *,
    judged: bool = False,
    tenant: str | None = None,
    newest: int | None = None,
) -> list[Probe]:
    """Return the probes that were to be sent in `window`, as they were known at `as_of`, in time order.

    judged: only those whose answers were looked at. tenant: only those that stand for its traffic. newest: only so many, the
    last ones.
    """
    only = " AND invalid_output IS NOT NULL" if judged else ""
    parameters = within(window, as_of)
    last = ""
    if tenant is not None:
        last = " WHERE tenant = {probes_tenant:String}"  # as the first row of a probe has it
        parameters["probes_tenant"] = tenant
    if newest is not None:
        last += " ORDER BY intended_at DESC, id DESC LIMIT {probes_newest:UInt64}"
        parameters["probes_newest"] = newest
    found = store.rows(
        Query(
            sql=f"SELECT {', '.join(COLUMNS)} FROM (SELECT * FROM (SELECT * FROM probe_requests"
            f" WHERE {WITHIN}{only} ORDER BY stored_at LIMIT 1 BY id){last}) ORDER BY intended_at, id",
            parameters=parameters,
        )
    )
    return [probe_of(row) for row in found]


def was_answered(store: Rows, target: str) -> bool:
    """Return whether a probe of `target` was answered at any time."""
    query = Query(
        sql="SELECT 1 FROM probe_requests WHERE target = {probed_target:String} AND outcome = 'ok' LIMIT 1",
        parameters={"probed_target": target},
    )
    return bool(store.rows(query))


def row_of(probe: Probe) -> tuple[object, ...]:
    """Return a probe as a row of `COLUMNS`."""
    said = {name: getattr(probe, name) for name in COLUMNS}
    said["outcome"] = probe.outcome.value
    said["stream"] = int(probe.stream)
    said["invalid_output"] = None if probe.invalid_output is None else int(probe.invalid_output)
    said["error"] = probe.error[:_ERROR_CHARACTERS]
    return tuple(value.astimezone(UTC) if isinstance(value, datetime) else value for value in said.values())


def probe_of(row: Sequence[Any]) -> Probe:
    """Return the probe in a row of `COLUMNS`."""
    said = dict(zip(COLUMNS, row, strict=True))
    for name in ("sent_at", "engine_arrived_at"):
        if said[name] is not None and said[name].tzinfo is None:
            said[name] = said[name].replace(tzinfo=UTC)
    if said["invalid_output"] is not None:
        said["invalid_output"] = bool(said["invalid_output"])
    return Probe(**{**said, "outcome": ProbeOutcome(said["outcome"]), "stream": bool(said["stream"])})
