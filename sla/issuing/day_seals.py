"""Own the seal of one day of a contract: its bytes, whose SHA-256 is the day's one hash.

An hour says which of the store's seals it is of, and, of the contract's own requests in it, how many there are and the
SHA-256 of their sorted lines (`sla.evaluation.evidence`): so whoever has the rows of a bundle can make the hash anew, and
nobody has to be told of other tenants.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from fairclock.errors import InputError
from fairclock.model import Interval, utc_text
from sla.calendars import day_start

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sla.contracts import Contract

SCHEMA = "fairclock.day-seal/1"
_A_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """One hour, or the part of it that lies in the day. `rows`: the contract's requests; `digest`: the store's, of its seal."""

    start: datetime
    seal: int
    digest: int
    rows: int
    rows_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in its contract's chain a seal stands; `supersedes` is the hash of the day's seal before this one."""

    sequence: int
    revision: int
    previous: str | None
    supersedes: str | None


def closed_days(contract: Contract, *, since: datetime, until: datetime) -> Iterator[tuple[date, Interval]]:
    """Yield the days of the term, in the contract's zone, that end after `since` and by `until`."""
    day = max(contract.term.first_day, since.astimezone(contract.zone).date())
    while day <= contract.term.last_day:
        interval = Interval(start=day_start(day, contract.zone), end=day_start(day + _A_DAY, contract.zone))
        if interval.end > until:
            return
        yield day, interval
        day += _A_DAY


def rests_on(seals: Iterable[tuple[datetime, int]]) -> str:
    """Return the hash of which hours and seals a day is made of."""
    return _sha256("".join(f"{utc_text(hour)}\t{seal}\n" for hour, seal in sorted(seals)))


def hours_sha256(hours: Sequence[Hour]) -> str:
    """Return the one hash over the hours of a day: a line an hour, in time order."""
    return _sha256("".join(f"{_hour_text(each.start)}\t{each.rows}\t{each.rows_sha256}\n" for each in hours))


def day_seal(
    contract: Contract,
    day: date,
    interval: Interval,
    hours: Sequence[Hour],
    *,
    place: Place,
    as_of: datetime,
    software_version: str,
) -> bytes:
    """Return the bytes of a day's seal."""
    tree: dict[str, Any] = {
        "schema": SCHEMA,
        "contract": {"id": contract.id, "version_sha256": contract.version_sha256},
        "day": day.isoformat(),
        "time_zone": contract.term.time_zone,
        "from": utc_text(interval.start),
        "to": utc_text(interval.end),
        "sequence": place.sequence,
        "revision": place.revision,
        "previous": place.previous,
        "supersedes": place.supersedes,
        "as_of": utc_text(as_of),
        "rows": sum(each.rows for each in hours),
        "hours_sha256": hours_sha256(hours),
        "hours": [
            {
                "hour": _hour_text(each.start),
                "seal": str(each.seal),
                "digest": f"{each.digest:016x}",
                "rows": each.rows,
                "rows_sha256": each.rows_sha256,
            }
            for each in hours
        ],
        "software_version": software_version,
    }
    return (json.dumps(tree, ensure_ascii=False, indent=1) + "\n").encode()


def read_day_seal(content: bytes, *, where: str) -> dict[str, Any]:
    """Return what a day's seal says; InputError where it is none, or where its hash is not that of its hours."""
    try:
        tree = json.loads(content)
        if not isinstance(tree, dict) or tree.get("schema") != SCHEMA:
            raise ValueError(f"no {SCHEMA}")  # noqa: TRY301 - told below as the rest is
        found: dict[str, Any] = tree
        text = "".join(f"{each['hour']}\t{each['rows']}\t{each['rows_sha256']}\n" for each in tree["hours"])
        texts = [found["contract"]["id"], found["day"], found["hours_sha256"]]
        texts += [each[name] for each in tree["hours"] for name in ("hour", "rows_sha256")]
        if not all(isinstance(each, str) for each in texts):
            raise ValueError("something else than texts")  # noqa: TRY301
        if found["rows"] != sum(each["rows"] for each in found["hours"]):
            raise ValueError("rows are not the sum of the hours'")  # noqa: TRY301
        int(found["sequence"])
        int(found["revision"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise InputError(
            where,
            "is no seal of a day",
            found=str(error)[:80],
            remedy="name the file as it was received",
        ) from error
    if _sha256(text) != found["hours_sha256"]:
        raise InputError(
            where,
            "its hash is not that of its hours",
            found=str(found["hours_sha256"])[:80],
            remedy="name the file as it was received",
        )
    return found


def file_name(contract: str, day: str, revision: int) -> str:
    """Return the name of a day's seal as a file."""
    return f"{contract}-{day}.r{revision}.seal.json"


def _hour_text(hour: datetime) -> str:
    return f"{hour:%Y-%m-%dT%H:%M:%SZ}"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
