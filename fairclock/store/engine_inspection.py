"""Own a look at what engines said of themselves lately: which names there are, what was dropped, what is suspect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.store.query import Query

if TYPE_CHECKING:
    from fairclock.store.connection import Connection

_EXISTS = "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'engine_samples'"
# of the last hour in which anything was scraped; the newest time of all is found without reading rows
_LATELY = "scraped_at > (SELECT max(scraped_at) FROM engine_samples) - toIntervalHour(1)"
_NAMES = (
    "SELECT name, uniqExact(target) FROM"
    f" (SELECT DISTINCT name, target FROM engine_samples WHERE {_LATELY}"
    f" UNION ALL SELECT DISTINCT name, target FROM engine_histograms WHERE {_LATELY})"
    " WHERE NOT startsWith(name, 'fairclock:') GROUP BY name ORDER BY name"
)
_DROPPED = (
    "SELECT target, toInt64(argMax(value, scraped_at)) AS dropped FROM engine_samples"
    f" WHERE name = 'fairclock:scrape_dropped_samples' AND {_LATELY} GROUP BY target HAVING dropped > 0 ORDER BY target"
)
_SUSPECT = (
    "SELECT target, engine, labelled['reason'] AS reason, count() FROM engine_samples FINAL"
    f" WHERE name = 'fairclock:scrape_suspect' AND {_LATELY} GROUP BY ALL ORDER BY ALL LIMIT 20"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFigures:
    """What a look at the last hour of scrapes found.

    names: of all series, with the number of targets that have one. dropped: samples beyond the cap in the latest scrape,
    by target. suspect: (target, engine, why, in how many scrapes).
    """

    names: tuple[tuple[str, int], ...] = ()
    dropped: tuple[tuple[str, int], ...] = ()
    suspect: tuple[tuple[str, str, str, int], ...] = ()


def engine_figures(connection: Connection) -> EngineFigures:
    """Look at the scrapes of the last hour that has any; a store older than scrapes has none."""
    if not connection.rows(Query(sql=_EXISTS))[0][0]:
        return EngineFigures()
    return EngineFigures(
        names=tuple((str(name), int(targets)) for name, targets in connection.rows(Query(sql=_NAMES))),
        dropped=tuple((str(target), int(count)) for target, count in connection.rows(Query(sql=_DROPPED))),
        suspect=tuple(
            (str(target), str(engine), str(reason), int(count))
            for target, engine, reason, count in connection.rows(Query(sql=_SUSPECT))
        ),
    )
