"""Own which sources there are: what each sent lately, what was read through, what could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.model import to_us
from fairclock.store.query import Query, sql_file

if TYPE_CHECKING:
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFigures:
    """One source: up to where it was read through, how much of the window, and its dead letters by reason."""

    kind: str
    source: str
    covered_to: datetime | None
    covered_us: int
    dead_letters: dict[str, int]


def sources_within(store: Store, window: Interval, as_of: datetime) -> list[SourceFigures]:
    """Return every source that was read through in `window`, or left dead letters, by kind and name."""
    parameters = {"start_us": to_us(window.start), "end_us": to_us(window.end), "as_of_us": to_us(as_of)}
    covered = store.rows(Query(sql=sql_file("sources"), parameters=parameters))
    letters: dict[tuple[str, str], dict[str, int]] = {}
    for kind, source, reason, count in store.rows(
        Query(
            sql="SELECT kind, source, reason, count() FROM dead_letters FINAL GROUP BY kind, source, reason ORDER BY ALL"
        )
    ):
        letters.setdefault((kind, source), {})[reason] = int(count)
    found = {(kind, source): (to, int(us)) for kind, source, to, us in covered}
    return [
        SourceFigures(
            kind=kind,
            source=source,
            covered_to=found.get((kind, source), (None, 0))[0],
            covered_us=found.get((kind, source), (None, 0))[1],
            dead_letters=letters.get((kind, source), {}),
        )
        for kind, source in sorted({*found, *letters})
    ]
