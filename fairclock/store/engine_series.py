"""Own how what engines said of themselves is read back: readings series by series, and what makes them suspect."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairclock.model import to_us
from fairclock.model.counter_streams import Point
from fairclock.model.histogram_increases import HistogramPoint
from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from fairclock.model import Interval

_WINDOW = (
    "scraped_at >= fromUnixTimestamp64Micro({from_us:Int64}, 'UTC')"
    " AND scraped_at < fromUnixTimestamp64Micro({to_us:Int64}, 'UTC')"
    " AND toUnixTimestamp64Micro(stored_at) <= {as_of_us:Int64}"
)
_SUSPECT = "fairclock:scrape_suspect"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesKey:
    """Which series of which target; `labels` as an exposition writes them."""

    target: str
    engine: str
    model: str
    labels: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """Why what an engine says of some families must not be taken for granted, and in how many scrapes it said so.

    about: families, with their prefix; ``scrape`` stands for all of the target.
    """

    target: str
    engine: str
    model: str
    about: tuple[str, ...]
    reason: str
    scrapes: int
    first_at: datetime
    last_at: datetime


def values_query(name: str, window: Interval, as_of: datetime) -> Query:
    """Return the query for the readings of the series called `name`, to be given to `points_of`.

    An increase needs the reading before the interval: begin the window a scrape or two earlier.
    """
    return Query(
        sql="SELECT target, engine, model, labels, toUnixTimestamp64Micro(scraped_at), whole, fraction, since_us"
        f" FROM engine_samples FINAL WHERE name = {{name:String}} AND {_WINDOW}"
        " ORDER BY target, engine, model, labels, scraped_at",
        parameters=_parameters(window, as_of, name=name),
    )


def points_of(rows: Iterable[tuple[Any, ...]]) -> dict[SeriesKey, list[Point]]:
    """Return the readings series by series, whole numbers as they are."""
    found: defaultdict[SeriesKey, list[Point]] = defaultdict(list)
    for target, engine, model, labels, at_us, whole, fraction, since_us in rows:
        key = SeriesKey(target=target, engine=engine, model=model, labels=labels)
        value = fraction if whole is None else whole
        found[key].append(Point(at_us=at_us, value=value, since_us=since_us))
    return dict(found)


def histograms_query(name: str, window: Interval, as_of: datetime) -> Query:
    """Return the query for the histograms called `name`, to be given to `histogram_points_of`."""
    return Query(
        sql="SELECT target, engine, model, labels, toUnixTimestamp64Micro(scraped_at), edges, counts, since_us"
        f" FROM engine_histograms FINAL WHERE name = {{name:String}} AND {_WINDOW}"
        " ORDER BY target, engine, model, labels, scraped_at",
        parameters=_parameters(window, as_of, name=name),
    )


def histogram_points_of(rows: Iterable[tuple[Any, ...]]) -> dict[SeriesKey, list[HistogramPoint]]:
    """Return the histograms series by series."""
    found: defaultdict[SeriesKey, list[HistogramPoint]] = defaultdict(list)
    for target, engine, model, labels, at_us, edges, counts, since_us in rows:
        key = SeriesKey(target=target, engine=engine, model=model, labels=labels)
        found[key].append(
            HistogramPoint(at_us=at_us, edges=tuple(edges), counts=tuple(counts), since_us=since_us)
        )
    return dict(found)


def suspicions_query(window: Interval, as_of: datetime) -> Query:
    """Return the query for what contradicts itself in `window`, to be given to `suspicions_of`."""
    return Query(
        sql="SELECT target, engine, model, labelled['about'], labelled['reason'], count(), min(scraped_at), max(scraped_at)"
        f" FROM engine_samples FINAL WHERE name = {{name:String}} AND {_WINDOW} GROUP BY ALL ORDER BY ALL",
        parameters=_parameters(window, as_of, name=_SUSPECT),
    )


def suspicions_of(rows: Iterable[tuple[Any, ...]], *, families: Iterable[str] = ()) -> list[Suspicion]:
    """Return what is suspect, all of it, or what concerns any of `families` (such as ``vllm:prompt_tokens``)."""
    wanted = {*families, "scrape"}
    found = [
        Suspicion(
            target=target, engine=engine, model=model, about=tuple(about.split()), reason=reason, scrapes=scrapes,
            first_at=first_at, last_at=last_at,
        )
        for target, engine, model, about, reason, scrapes, first_at, last_at in rows
    ]  # fmt: skip
    return [each for each in found if len(wanted) == 1 or wanted & set(each.about)]


def _parameters(window: Interval, as_of: datetime, *, name: str) -> dict[str, object]:
    return {
        "name": name,
        "from_us": to_us(window.start),
        "to_us": to_us(window.end),
        "as_of_us": to_us(as_of),
    }
