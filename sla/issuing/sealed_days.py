"""Own how the seal of a day is held against the store: its row, its chain, and the requests as they were then."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fairclock.model import Interval
from fairclock.store.issued_reports import day_seal_rows
from sla.issuing.chains import chain_of
from sla.issuing.sealing import HourSeals, hours_of
from sla.issuing.verifying import Finding, fine, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairclock.store import Store
    from sla.contracts import Contract

_MOST_SAID = 5


def check_sealed_day(
    store: Store, seal: Mapping[str, Any], sha256: str, contracts: Sequence[Contract]
) -> Iterator[Finding]:
    """Yield what the store says of a seal; `contracts` are the versions that it names, without which requests are not counted."""
    contract, day = seal["contract"]["id"], seal["day"]
    rows = chain_of(day_seal_rows(store, store.watermark(), contract=contract), contract).rows
    known = next((row for row in rows if row.sha256 == sha256), None)
    if known is None:
        of_day = [row for row in rows if row.day == day]
        said = ", ".join(f"revision {row.revision} {row.sha256}" for row in of_day) or "none"
        yield wrong(f"the store holds no such seal of {contract} on {day}; its seals of that day: {said}")
    else:
        yield fine(f"it is number {known.sequence} of the chain of {contract} in the store")
        later = [row for row in rows if row.day == day and row.revision > known.revision]
        if later:
            yield fine(
                f"hours of that day were sealed anew: revision {later[-1].revision}, {later[-1].sha256}"
            )
    if not contracts:
        yield fine("its requests were not counted again: name the contract with --contract")
        return
    yield from _rows_findings(store, seal, contracts[0])


def _rows_findings(store: Store, seal: Mapping[str, Any], contract: Contract) -> Iterator[Finding]:
    """Yield in which hours the store has other requests, as of the seal's instant, than were sealed."""
    try:
        start, end, as_of = (_instant(seal[name]) for name in ("from", "to", "as_of"))
        interval = Interval(start=start, end=end)
    except (ValueError, TypeError, KeyError, OverflowError):
        yield wrong("it does not say of which time it is")
        return
    if as_of > store.watermark():
        yield wrong("it says that it was made at an instant that is yet to come")
        return
    seals = HourSeals.read(store, as_of).within(interval)
    found = {
        f"{each.start:%Y-%m-%dT%H:%M:%SZ}": (each.rows, each.rows_sha256)
        for each in hours_of(store, contract, interval, seals, as_of)
    }
    sealed = {each["hour"]: (each["rows"], each["rows_sha256"]) for each in seal["hours"]}
    other = sorted(hour for hour in {*found, *sealed} if found.get(hour) != sealed.get(hour))
    if not other:
        yield fine(f"the store has the {seal['rows']} requests that were sealed, as they were")
        return
    named = ", ".join(other[:_MOST_SAID]) + (" …" if len(other) > _MOST_SAID else "")
    yield wrong(f"the store has other requests than were sealed, in {len(other)} hours: {named}")


def _instant(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError("an instant without a zone")
    return found.astimezone(UTC)
