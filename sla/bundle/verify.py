#!/usr/bin/env python3
"""Recompute every number of a contract's monthly report from the rows that it rests on.

    python verify.py [FOLDER]          FOLDER is the bundle (default: where this file lies)

Needs Python 3.9 or later and pyarrow, and no other program; it reads files and writes nothing. It says

1. which file of the bundle was altered, is missing, or was put in (``manifest.json``);
2. which figure of ``report.json`` does not follow from the requests, the contract, the ledger and what was said;
3. which few values it cannot recompute, and why.

Exit code 0: everything follows. 1: something does not, and is named. 2: the bundle cannot be read, or pyarrow is not there.

The rules are those of the contract's words, printed in ``method.md``. Nothing here decides by a floating-point number:
durations are whole microseconds, counts are integers, shares and amounts exact fractions. Floats appear only
where the report prints one, at the very end.
"""

# ruff: noqa: B905, C901, EXE001, FURB162, PLR0911, PLR2004, RUF007, T201, TC003, UP007, UP017
# It has to run on Python 3.9 (B905, FURB162, RUF007, UP007, UP017) and to be read alone (TC003). It is no file of a system's
# (EXE001). 100 is per cent here, wherever it stands (PLR2004). It prints, that is its work (T201).

from __future__ import annotations

import bisect
import hashlib
import json
import math
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any, Union
from zoneinfo import ZoneInfo

Span = tuple[int, int]  # from one instant up to, and without, another: microseconds since 1970
Tree = dict[str, Any]
UTC = timezone.utc
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
DAY = timedelta(days=1)
SECOND_US, MINUTE_US, HOUR_US = 1_000_000, 60_000_000, 3_600_000_000
ZERO = Fraction(0)

NOT_RECOMPUTED = (
    ("evidence.software_version", "names the program that wrote the report"),
    ("evidence.fonts", "names the fonts that the PDF was set in"),
    ("incidents[].evidence", "what machines showed at the time; no verdict and no amount rests on it"),
    (
        "changes[].why",
        "what arrived between two revisions: the provider's own log of it; the changes themselves are recomputed",
    ),
)
"""The values of report.json that are not recomputed, and why; [] stands for any place in a list."""


class Unreadable(Exception):  # noqa: N818
    """The bundle lacks something without which nothing can be recomputed."""


# ---------------------------------------------------------------- 1. the files


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def altered_files(folder: Path) -> list[str]:
    """Return a sentence for each file that is not what the manifest says; none where all are."""
    manifest, noted = folder / "manifest.json", folder / "manifest.sha256"
    if not manifest.is_file():
        return ["manifest.json: it is missing"]
    problems = []
    try:
        tree = json.loads(manifest.read_bytes())
        files = {str(name): (int(said["bytes"]), str(said["sha256"])) for name, said in tree["files"].items()}
        schema = tree["schema"]
    except (ValueError, KeyError, TypeError, AttributeError):
        return ["manifest.json: it was altered: it cannot be read"]
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    for name, said in sorted(files.items()):
        path = folder / name
        if not path.is_file():
            problems.append(f"{name}: it is missing")
        elif (path.stat().st_size, sha256_of(path)) != said:
            problems.append(f"{name}: it was altered: its bytes are not those of the manifest")
    extra = there - set(files) - {"manifest.json", "manifest.sha256"}
    problems += [f"{name}: it was put in: the manifest does not know it" for name in sorted(extra)]
    text = noted.read_text(errors="replace") if noted.is_file() else ""
    if text != f"{sha256_of(manifest)}  manifest.json\n":
        is_whole = schema == "fairclock.bundle/1" and not problems and is_canonical(manifest, tree)
        whose = "manifest.sha256" if is_whole else "manifest.json"
        problems.insert(0, f"{whose}: it was altered; what is said of other files may follow from that")
    return problems


def is_canonical(path: Path, tree: Tree) -> bool:
    """Say whether a JSON file has the one form that bundles are written in."""
    text = json.dumps(tree, ensure_ascii=False, sort_keys=True, indent=1) + "\n"
    return path.read_bytes() == text.encode()


class Bundle:
    """The bundle's files, read."""

    def __init__(self, folder: Path) -> None:
        """Take the folder; nothing is read yet."""
        self.folder = folder

    def json(self, name: str) -> Any:
        """Return a JSON file."""
        try:
            return json.loads((self.folder / name).read_bytes())
        except (OSError, ValueError) as error:
            raise Unreadable(f"{name}: it cannot be read ({error})") from error

    def lines(self, name: str) -> list[Tree]:
        """Return a file with a line of JSON an entry."""
        try:
            return [json.loads(line) for line in (self.folder / name).read_bytes().split(b"\n") if line]
        except (OSError, ValueError) as error:
            raise Unreadable(f"{name}: it cannot be read ({error})") from error

    def columns(self, name: str) -> dict[str, list[Any]]:
        """Return a Parquet file by columns."""
        import pyarrow.parquet  # noqa: PLC0415

        try:
            table = pyarrow.parquet.read_table(str(self.folder / name))
        except (OSError, ValueError, pyarrow.ArrowException) as error:
            raise Unreadable(f"{name}: it cannot be read ({error})") from error
        return {column: table.column(column).to_pylist() for column in table.column_names}


# ---------------------------------------------------------------- 2. quantities and instants


def instant(text: str) -> int:
    """Return an ISO 8601 instant as microseconds since 1970."""
    return (datetime.fromisoformat(text.replace("Z", "+00:00")) - EPOCH) // MICROSECOND


def instant_or_none(text: str | None) -> int | None:
    """Return an instant; None stays None."""
    return None if text is None else instant(text)


def written(us: int | None) -> str | None:
    """Write an instant as the report does; None stays None."""
    return None if us is None else (EPOCH + us * MICROSECOND).isoformat().replace("+00:00", "Z")


def span_of(tree: Tree) -> Span:
    """Return the span that a tree with `from` and `to` says."""
    return instant(tree["from"]), instant(tree["to"])


UNITS = {"us": 1, "ms": 1_000, "s": SECOND_US, "m": MINUTE_US, "h": HOUR_US, "d": 24 * HOUR_US}


def duration(text: str | None) -> int | None:
    """Read 300ms, 2s, 1.5s, 72h as microseconds."""
    if text is None:
        return None
    number, unit = re.fullmatch(r"([0-9.]+)([a-z]+)", text).groups()  # type: ignore[union-attr]
    return int(Fraction(number) * UNITS[unit])


def percent(text: str) -> Fraction:
    """Read 99.9% as a ratio."""
    return Fraction(text.rstrip("%")) / 100


def decimal_text(value: Fraction) -> str:
    """Write a fraction as its decimals where they end, else as a quotient."""
    for places in range(61):
        if 10**places % value.denominator == 0:
            digits = str(abs(value.numerator) * (10**places // value.denominator)).rjust(places + 1, "0")
            sign = "-" if value < 0 else ""
            return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"
    return f"{value.numerator}/{value.denominator}"


def percent_text(value: Fraction) -> str:
    """Write a ratio as per cent."""
    return decimal_text(value * 100) + "%"


def seconds(us: int | None) -> float | None:
    """Return microseconds as seconds; None stays None."""
    return None if us is None else us / SECOND_US


def ratio(part: int, whole: int) -> float | None:
    """Return part of whole; None where there is no whole."""
    return part / whole if whole else None


def plain(value: Fraction) -> Union[int, float]:
    """Return an exact number as JSON has it."""
    return value.numerator if value.denominator == 1 else float(value)


def zone_of(name: str) -> tzinfo:
    """Return a time zone: a place, or an offset such as +08:00."""
    offset = re.fullmatch(r"(?:UTC|GMT)?([+-])([0-9]{1,2})(?::?([0-5][0-9]))?", name)
    if offset:
        length = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return timezone(-length if offset[1] == "-" else length)
    return ZoneInfo(name)


def local_instant(day: date, minute: int, zone: tzinfo, edge: str = "start") -> int:
    """Return the instant of a local time.

    One that does not exist is the first instant after the gap; one that exists twice is its first where something
    starts and its second where something ends.
    """
    if minute == 1440:
        return local_instant(day + DAY, 0, zone)
    local = datetime.combine(day, time(minute // 60, minute % 60), zone)
    first, second = local.replace(fold=0), local.replace(fold=1)
    if second.utcoffset() > first.utcoffset():  # type: ignore[operator]
        low, high = second.astimezone(UTC), first.astimezone(UTC)
        before = low.astimezone(zone).utcoffset()
        while high - low > timedelta(seconds=1):
            middle = low + timedelta(seconds=(high - low) // timedelta(seconds=2))
            low, high = (middle, high) if middle.astimezone(zone).utcoffset() == before else (low, middle)
        return (high - EPOCH) // MICROSECOND
    return ((first if edge == "start" else second).astimezone(UTC) - EPOCH) // MICROSECOND


def local_day(us: int, zone: tzinfo) -> date:
    """Return the local day of an instant."""
    return (EPOCH + us * MICROSECOND).astimezone(zone).date()


# ---------------------------------------------------------------- 3. sets of instants


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return the union of spans: disjoint, in time order."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def clipped(spans: Iterable[Span], window: Span) -> list[Span]:
    """Return what of the union of spans lies in a window."""
    return merged((max(start, window[0]), min(end, window[1])) for start, end in spans)


def outside(spans: Iterable[Span], window: Span) -> list[Span]:
    """Return what of a window lies in none of the spans."""
    gaps, at = [], window[0]
    for start, end in clipped(spans, window):
        gaps.append((at, start))
        at = end
    return merged([*gaps, (at, window[1])])


def length(spans: Iterable[Span]) -> int:
    """Return the length of disjoint spans."""
    return sum(end - start for start, end in spans)


class Lookup:
    """Tells whether instants lie in a set."""

    def __init__(self, spans: Iterable[Span]) -> None:
        """Take the set."""
        self.spans = merged(spans)
        self.starts = [start for start, _ in self.spans]

    def holds(self, at: int) -> bool:
        """Say whether an instant lies in the set."""
        place = bisect.bisect_right(self.starts, at) - 1
        return place >= 0 and at < self.spans[place][1]


# ---------------------------------------------------------------- 4. percentiles


def share_over(count: int, percentile: Fraction) -> int:
    """Return how many of `count` may lie above the threshold: floor((100 - p) n / 100)."""
    return math.floor((100 - percentile) * count / 100)


def rank_of(count: int, percentile: Fraction) -> int:
    """Return the rank of the percentile, from 1: ceil(p n / 100)."""
    return math.ceil(percentile * count / 100)


def interval_ranks(count: int, percentile: Fraction) -> tuple[int | None, int | None]:
    """Return the ranks that enclose the population's percentile with 95 %: at most 2.5 % lie beyond either.

    The number of values below it is Binomial(count, p/100). Its probabilities are taken relative to the greatest, in
    integers scaled by 2^160; what is smaller than one such unit is left out.
    """
    if percentile == 100:
        return count, None
    yes, no = percentile.numerator, 100 * percentile.denominator - percentile.numerator
    mode = (count + 1) * yes // (yes + no)
    weights = {mode: 1 << 160}
    k = mode
    while k < count and weights[k]:
        weights[k + 1] = weights[k] * (count - k) * yes // ((k + 1) * no)
        k += 1
    k = mode
    while k > 0 and weights[k]:
        weights[k - 1] = weights[k] * k * no // ((count - k + 1) * yes)
        k -= 1
    total = sum(weights.values())
    weighty = sorted(k for k, weight in weights.items() if weight)
    low, mass = weighty[0], 0
    for k in weighty:  # P(fewer than `low` below) is `mass`: the largest rank for which that is at most 1/40
        mass += weights[k]
        if 40 * mass > total:
            low = k
            break
    high, mass = weighty[-1] + 1, 0
    for k in reversed(weighty):  # P(at least `high` below): the smallest rank for which that is at most 1/40
        mass += weights[k]
        if 40 * mass > total:
            high = k + 1
            break
    return (low if low >= 1 else None), (high if high <= count else None)


def shown_percentile(values: Sequence[int], count: int, percentile: Fraction) -> tuple[float | None, Any]:
    """Return a percentile and its interval in seconds; `values` are sorted, the rest of `count` has none and ranks last."""
    if not count:
        return None, None

    def at(rank: int | None) -> float | None:
        return seconds(values[rank - 1]) if rank is not None and rank <= len(values) else None

    return at(rank_of(count, percentile)), [at(rank) for rank in interval_ranks(count, percentile)]


# ---------------------------------------------------------------- 5. the contract


class Objective:
    """One promise of the contract's file."""

    def __init__(self, tree: Tree) -> None:
        """Read a promise."""
        self.tree, self.name, self.where = tree, tree["name"], tree["where"]
        self.during: str | None = tree.get("during")
        self.kind = next(kind for kind in ("latency", "availability", "rate", "cost") if kind in tree)
        said = self.said = tree[self.kind]
        self.clock: str | None = said.get("clock")
        self.percentile = Fraction(said.get("percentile", "0"))
        self.limit_us = (duration(said["at_most"]) if self.kind == "latency" else None) or 0
        self.formula: str = said.get("formula", "")
        self.target = percent(said["target"]) if "target" in said else ZERO
        self.step_us = duration(said.get("window") or said.get("interval"))
        self.is_timed = self.formula in ("downtime", "mean_interval_error")
        # speeds and all clocks but the gateway's own need the engines to be read through, too
        self.needs_engine = self.kind == "rate" or (
            self.kind == "latency" and self.clock not in ("end_to_end", "excluding_queue")
        )

    def threshold(self) -> float | None:
        """Return what was promised: seconds, a ratio, a speed or a price."""
        if self.kind == "latency":
            return seconds(self.limit_us)
        if self.kind == "availability":
            return float(self.target)
        return float(self.said["at_least" if self.kind == "rate" else "at_most"])

    def promised(self, number: int) -> Tree:
        """Return what the report repeats of the promise."""
        said = self.said
        row: Tree = {
            "name": self.name,
            "kind": self.kind,
            "clause": f"objectives[{number}]",
            "clock": self.clock,
            "percentile": plain(self.percentile) if self.kind == "latency" else None,
            "threshold": self.threshold(),
            "during": self.during,
            "where": self.where or None,
        }
        if self.kind == "latency" and self.step_us:
            row.update(window=seconds(self.step_us), combine=said.get("combine"))
        if self.kind == "rate":
            row.update(
                window=seconds(self.step_us),
                statistic=said["statistic"],
                windows_met=float(percent(said["windows_met"])),
            )
        if self.kind == "availability":
            row["formula"] = self.formula
            if self.is_timed:
                row["interval_length"] = seconds(self.step_us)
            if self.formula == "downtime":
                above = said.get("bad_above")
                row.update(
                    bad_above=None if above is None else float(percent(above)),
                    consecutive=said["consecutive"],
                )
        return row


class Promise:
    """An objective for one part of the traffic; `part` None is all of it."""

    def __init__(self, number: int, objective: Objective, part: dict[str, str | None] | None) -> None:
        """Take them."""
        self.number, self.objective, self.part = number, objective, part
        self.key = (number, json.dumps(part, sort_keys=True))

    @property
    def shown_part(self) -> dict[str, str] | None:
        """Return the part as the report has it."""
        return (
            None
            if self.part is None
            else {name: value for name, value in self.part.items() if value is not None}
        )

    @property
    def full_name(self) -> str:
        """Return the name with the part."""
        values = ", ".join((self.shown_part or {}).values())
        return f"{self.objective.name} ({values})" if values else str(self.objective.name)


class Version:
    """One version of the contract: its clauses, when it is in force, its calendar."""

    def __init__(self, tree: Tree, calendar: Tree, as_of: int) -> None:
        """Read a version."""
        self.clauses: Tree = tree["clauses"]
        self.sha256: str = tree["version_sha256"]
        self.in_force = None if tree["in_force"] is None else span_of(tree["in_force"])
        self.labels: list[str] = tree["months"]
        self.years: Tree = calendar["years"]
        self.as_of = as_of
        clauses = self.clauses
        self.zone = zone_of(clauses["term"]["time_zone"])
        self.first_day = date.fromisoformat(clauses["term"]["from"])
        self.last_day = date.fromisoformat(clauses["term"]["to"])
        self.tenants = set(clauses["customer"]["tenants"])
        self.objectives = [Objective(each) for each in clauses["objectives"]]
        self.unknown_is_bad = clauses["unmeasured"]["unknown_clock"] == "bad"
        self.carries_over = clauses["insufficient"]["verdict"] == "carry_over"
        levels = clauses.get("quality", {}).get("levels", [])
        self.modes = {
            counts: {mode for level in levels if level["counts"] == counts for mode in level["modes"]}
            for counts in ("good", "bad")
        }
        quota = clauses.get("quota")
        self.quota = quota if quota is not None and quota["rejected_below"] == "bad" else None

    def days_of(self, label: str) -> tuple[date, date]:
        """Return a month's first day and the first day after it, calendar months or those from the term's day on."""
        year, number = map(int, label.split("-"))
        firsts = [date(year, number, 1), date(year + number // 12, number % 12 + 1, 1)]
        if self.clauses["period"]["month"] == "anniversary":
            lasts = [(first.replace(day=28) + 4 * DAY).replace(day=1) - DAY for first in firsts]
            firsts = [
                first.replace(day=min(self.first_day.day, last.day)) for first, last in zip(firsts, lasts)
            ]
        return firsts[0], firsts[1]

    def whole(self, label: str) -> Span:
        """Return a month as if the contract had always been in force."""
        first, after = self.days_of(label)
        return local_instant(first, 0, self.zone), local_instant(after, 0, self.zone)

    def months_before(self, label: str) -> list[str]:
        """Return the months before one in which this version was in force, the latest first."""
        year, number = map(int, label.split("-"))
        found = []
        while (year, number) > (self.first_day.year, self.first_day.month):
            year, number = (year - 1, 12) if number == 1 else (year, number - 1)
            found.append(f"{year:04d}-{number:02d}")
        return [
            each
            for each in found
            if self.in_force is None or self.period(each, in_term_only=True)[1] > self.in_force[0]
        ]

    def period(self, label: str, *, in_term_only: bool = False) -> Span:
        """Return a month, cut to the term and to when this version is in force."""
        first, after = self.days_of(label)
        first, after = max(first, self.first_day), min(after, self.last_day + DAY)
        span = (local_instant(first, 0, self.zone), local_instant(after, 0, self.zone))
        if self.in_force is None or in_term_only:
            return span
        start = max(span[0], self.in_force[0])
        return start, max(start, min(span[1], self.in_force[1]))

    def is_workday(self, day: date) -> bool:
        """Tell whether a day is a workday of the calendar written out in calendar.json; KeyError where its year is not known."""
        year = self.years[str(day.year)]
        if day.isoformat() in year["worked"]:
            return True
        return day.weekday() not in year["weekend"] and day.isoformat() not in year["off"]

    def looked_at(self, during: str | None, window: Span) -> list[Span]:
        """Return the instants of a window at which an objective with this `during` holds."""
        if during is None:
            return [window]
        negated = re.fullmatch(r"not\s+(\S+)", during)
        named = self.named(negated[1] if negated else during, window)
        return outside(named, window) if negated else named

    def named(self, name: str, window: Span) -> list[Span]:
        """Return when a named period of the calendar holds in a window."""
        found = []
        day, last = local_day(window[0], self.zone) - DAY, local_day(window[1], self.zone)
        while day <= last:
            for rule in self.clauses["calendar"][name]:
                begin, end = (int(rule[edge][:2]) * 60 + int(rule[edge][3:]) for edge in ("from", "to"))
                ends_on = day + DAY if end <= begin else day
                span = (local_instant(day, begin, self.zone), local_instant(ends_on, end, self.zone, "end"))
                if clipped([span], window) and self.is_chosen(rule["days"], day):
                    found.append(span)
            day += DAY
        return clipped(found, window)

    def is_chosen(self, days: str, day: date) -> bool:
        """Tell whether a day is among those that a rule names: workdays, or weekdays."""
        if days == "workdays":
            return self.is_workday(day)
        return ("mon", "tue", "wed", "thu", "fri", "sat", "sun")[day.weekday()] in days.split(",")


# ---------------------------------------------------------------- 6. the requests of one month

OUTCOMES = (
    "ok", "incomplete", "substituted", "client_error", "quota_rejected", "capacity_rejected", "server_error", "timeout",
    "client_aborted",
)  # fmt: skip
FAILED = {"timeout", "substituted", "incomplete"}
BAD = {"incomplete", "substituted", "server_error", "timeout", "capacity_rejected"}
REFUSED = {"quota_rejected", "capacity_rejected"}
CLOCKS = (
    "end_to_end", "excluding_queue", "queue", "inference", "prefill", "decode", "outside", "time_to_first_token",
    "time_per_output_token",
)  # fmt: skip
MEASURED_WHATEVER_THE_END = {"queue", "prefill", "time_to_first_token"}
NOBODY, KEPT, OVER, UNANSWERED, UNKNOWN = range(5)
Excluded = tuple[tuple[Span, ...], tuple[tuple[str, tuple[Span, ...]], ...]]
NOTHING: Excluded = ((), ())


class Month:
    """One month under one version: its requests (in the order of receipt), its instants, and what they count as."""

    def __init__(
        self, version: Version, label: str, rows: dict[str, list[Any]], covered: dict[str, list[Span]]
    ) -> None:
        """Take the rows received in the month, and the time that was read through."""
        self.version, self.label = version, label
        self.whole, self.period = version.whole(label), version.period(label)
        self.elapsed: Span = (self.period[0], min(self.period[1], version.as_of))
        self.is_partial = self.period != self.whole
        self.is_first = not version.months_before(label)
        self.is_void = self.is_partial and version.clauses["period"]["partial"] == "void"
        received = rows["received_us"]
        first, last = (bisect.bisect_left(received, edge) for edge in self.period)
        reach = bisect.bisect_left(received, self.period[0] - (0 if self.is_first else MINUTE_US))
        self.rows = {name: values[first:last] for name, values in rows.items()}
        self.just_before = {name: values[reach:first] for name, values in rows.items()}
        self.at: list[int] = self.rows["received_us"]
        self.count = len(self.at)
        self.endings = [self.ending(self.rows, j) for j in range(self.count)]
        self.gateway, self.engine = (clipped(covered[kind], self.elapsed) for kind in ("gateway", "engine"))
        self._kept: dict[Any, Any] = {}

    def once(self, key: Any, work: Callable[[], Any]) -> Any:
        """Return what `work` gives, computed once."""
        if key not in self._kept:
            self._kept[key] = work()
        return self._kept[key]

    def ending(self, rows: dict[str, list[Any]], j: int) -> str:
        """Return how a request ended: as logged, or as the contract's `outcomes` say; the first rule that matches."""
        for rule in self.version.clauses["outcomes"]:
            if rule.get("status") in (None, rows["status"][j]) and rule.get("error_code") in (
                None,
                rows["error_code"][j],
            ):
                return str(rule["is"])
        return str(rows["outcome"][j])

    def is_good(self, j: int) -> bool | None:
        """Return whether availability calls a request good or bad; None: it is not counted."""
        ending, mode, modes = self.endings[j], self.rows["inference_mode"][j], self.version.modes
        if ending == "ok":
            return mode not in modes["bad"]
        if ending == "substituted" and mode in modes["good"]:
            return True
        return False if ending in BAD else None

    def clock(self, name: str) -> list[int | None]:
        """Return a clock of every request in microseconds; None where it was not measured."""
        return self.once(("clock", name), lambda: [self.time(name, j) for j in range(self.count)])  # type: ignore[no-any-return]

    def time(self, name: str, j: int) -> int | None:
        """Return one clock of one request."""
        rows = self.rows
        elapsed: int = rows["end_to_end_us"][j]
        if self.version.clauses["clock"]["start"] == "connected":
            elapsed += rows["connected_us"][j] or 0
        prefill, decode, queue = rows["prefill_us"][j], rows["decode_us"][j], rows["queue_us"][j]
        inference = None if prefill is None or decode is None else prefill + decode
        gaps = (rows["decode_tokens"][j] or 0) - 1
        if name == "end_to_end":
            return elapsed
        if name == "excluding_queue":
            return elapsed - (queue or 0)
        if name == "inference":
            return inference
        if name == "outside":
            return None if inference is None else elapsed - inference
        if (
            name == "time_per_output_token"
        ):  # rounded up: against a threshold in whole microseconds that is exact
            return None if gaps < 1 or decode is None else -(-decode // gaps)
        if name == "speed":  # millionths of a token per second, rounded down
            return None if gaps < 1 or not decode or decode < 0 else gaps * 10**12 // decode
        value: int | None = rows[f"{name}_us"][j]
        return value

    def standing(self, objective: Objective) -> list[int]:
        """Return what every request is for a promise about a clock or a speed: see "Who is judged" in method.md."""
        name = "speed" if objective.kind == "rate" else str(objective.clock)

        def of(j: int, value: int | None) -> int:
            ending = self.endings[j]
            may_have_stopped = ending in FAILED or ending == "client_aborted"
            if ending == "ok" or (name in MEASURED_WHATEVER_THE_END and may_have_stopped):
                if value is None:
                    return UNKNOWN
                return OVER if objective.kind == "latency" and value > objective.limit_us else KEPT
            if ending in FAILED:
                return UNANSWERED
            late = objective.kind == "latency" and ending == "client_aborted"
            return UNANSWERED if late and (self.time("end_to_end", j) or 0) > objective.limit_us else NOBODY

        return self.once(  # type: ignore[no-any-return]
            ("standing", name, objective.kind, objective.limit_us),
            lambda: [of(j, value) for j, value in enumerate(self.clock(name))],
        )

    def members(self, promise: Promise) -> list[int]:
        """Return the requests that a promise looks at: by `where`, `during` and its part. What was not logged is in."""
        return self.once(("members", promise.key), lambda: self._members(promise))  # type: ignore[no-any-return]

    def _members(self, promise: Promise) -> list[int]:
        where, rows = promise.objective.where, self.rows
        tests: list[tuple[list[Any], Callable[[Any], bool]]] = []
        for column, key in (
            ("model", "models"),
            ("route", "routes"),
            ("region", "regions"),
            ("inference_mode", "inference_mode"),
        ):
            if key in where:
                wanted = {*where[key], *(() if column == "route" else ("",))}
                tests.append((rows[column], wanted.__contains__))
        tests += [
            (rows[column], in_range(*token_range(where[column])))
            for column in ("prompt_tokens", "completion_tokens")
            if column in where
        ]
        if "stream" in where:
            tests.append((rows["stream"], {None, int(where["stream"])}.__contains__))
        for column, value in (promise.part or {}).items():
            if value is not None:
                tests.append((rows[column], {"", value}.__contains__))
        if promise.objective.during is not None:
            tests.append(
                (self.at, Lookup(self.version.looked_at(promise.objective.during, self.period)).holds)
            )
        return [j for j in range(self.count) if all(holds(values[j]) for values, holds in tests)]

    def left_out(self, excluded: Excluded) -> list[bool]:
        """Return which requests are left out."""
        return self.once(("left out", excluded), lambda: self._left_out(excluded))  # type: ignore[no-any-return]

    def _left_out(self, excluded: Excluded) -> list[bool]:
        instants, routed = Lookup(excluded[0]), {upstream: Lookup(spans) for upstream, spans in excluded[1]}
        nowhere = Lookup(())
        return [
            instants.holds(at) or routed.get(upstream, nowhere).holds(at)
            for at, upstream in zip(self.at, self.rows["upstream"])
        ]

    def wrongly_refused(self) -> list[int]:
        """Return the requests refused for quota although, over the 60 s that end with them, their tenant was below it."""
        return self.once("refused", self._wrongly_refused)  # type: ignore[no-any-return]

    def _wrongly_refused(self) -> list[int]:
        quota = self.version.quota
        if quota is None or "quota_rejected" not in self.endings:
            return []
        before = len(self.just_before["received_us"])
        rows = {name: self.just_before[name] + self.rows[name] for name in self.rows}
        endings = [self.ending(rows, i) for i in range(before)] + self.endings
        by_tenant: dict[str, list[int]] = defaultdict(list)
        for i, tenant in enumerate(rows["tenant"]):
            by_tenant[tenant].append(i)
        found = []
        for places in by_tenant.values():
            times = [rows["received_us"][i] for i in places]
            requests, tokens = [0], [0]  # let through, up to each place
            for i in places:
                through = endings[i] not in REFUSED
                requests.append(requests[-1] + through)
                tokens.append(
                    tokens[-1]
                    + through * ((rows["prompt_tokens"][i] or 0) + (rows["completion_tokens"][i] or 0))
                )
            for i, at in zip(places, times):
                if i < before or endings[i] != "quota_rejected":
                    continue
                low, high = bisect.bisect_right(times, at - MINUTE_US), bisect.bisect_right(times, at)
                used = {
                    "requests_per_minute": requests[high] - requests[low],
                    "tokens_per_minute": tokens[high] - tokens[low],
                }
                if all(used[name] < quota[name] for name in used if quota.get(name) is not None):
                    found.append(i - before)
        return sorted(found)


def in_range(low: int, high: int | None) -> Callable[[Any], bool]:
    """Return the test that a number of tokens lies in a range; what nobody counted does."""

    def test(value: int | None) -> bool:
        return value is None or (low <= value and (high is None or value <= high))

    return test


def token_range(tree: Tree) -> tuple[int, int | None]:
    """Return the smallest and the largest number of tokens of a range; None: no upper edge."""
    low = max(tree.get("at_least", 0), tree.get("above", -1) + 1)
    edges = [tree["at_most"]] if "at_most" in tree else []
    edges += [tree["below"] - 1] if "below" in tree else []
    return low, min(edges) if edges else None


# ---------------------------------------------------------------- 7. counting and judging


class Tally:
    """What was counted for one promise: requests, windows (count, value), or time."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.valued = self.over = self.unanswered = self.unknown = 0
        self.values: list[int] = []
        self.windows: list[tuple[int, int | None]] = []
        self.intervals = self.bad = self.unread = self.whole = 0
        self.lost = ZERO

    def add(self, other: Tally) -> Tally:
        """Return both together; time is never added up."""
        both = Tally()
        for name in ("valued", "over", "unanswered", "unknown", "values", "windows"):
            setattr(both, name, getattr(self, name) + getattr(other, name))
        return both

    def counted(self, *, unknown_is_bad: bool) -> int:
        """Return n."""
        return self.valued + self.unanswered + (self.unknown if unknown_is_bad else 0)


class Judged:
    """A promise's month: the figures and the verdict."""

    def __init__(self, promise: Promise, tally: Tally) -> None:
        """Begin with what is judged."""
        self.promise, self.tally = promise, tally
        self.unit = "requests"
        self.counted = self.over = self.unknown = 0
        self.allowed: int | None = None
        self.requests: int | None = None
        self.value: float | None = None
        self.ratio: Fraction | None = None
        self.kept = True
        self.verdict, self.reason = "", ""


def tally_of(month: Month, promise: Promise, excluded: Excluded, failed_probes: Sequence[Span]) -> Tally:
    """Count a promise's month with some instants and requests left out."""
    key = ("tally", promise.key, excluded)
    found: Tally = month.once(key, lambda: _tally_of(month, promise, excluded, failed_probes))
    return found


def _tally_of(month: Month, promise: Promise, excluded: Excluded, failed_probes: Sequence[Span]) -> Tally:
    objective, gone = promise.objective, month.left_out(excluded)
    members = [j for j in month.members(promise) if not gone[j]]
    if objective.is_timed:
        return time_tally(month, objective, members, excluded, failed_probes)
    if objective.kind == "availability":
        tally = Tally()
        of_members = [month.is_good(j) for j in members]
        wrong = len(set(month.wrongly_refused()) & set(members))
        tally.over = sum(each is False for each in of_members) + wrong
        tally.valued = sum(each is True for each in of_members) + tally.over
        return tally
    standing = month.standing(objective)
    values = month.clock("speed" if objective.kind == "rate" else str(objective.clock))
    if objective.step_us is None:
        return request_tally(members, standing, values)
    return window_tally(month, objective, members, standing, values)


def request_tally(members: Sequence[int], standing: Sequence[int], values: Sequence[int | None]) -> Tally:
    """Count requests by their standing."""
    tally = Tally()
    for j in members:
        state = standing[j]
        if state in (KEPT, OVER):
            tally.valued += 1
            tally.over += state == OVER
            tally.values.append(values[j])  # type: ignore[arg-type]
        tally.unanswered += state == UNANSWERED
        tally.unknown += state == UNKNOWN
    return tally


def grid_of(month: Month, step_us: int) -> list[Span]:
    """Return the month's intervals of one length that have ended; the last is cut where the month ends."""
    start, end = month.period
    if month.version.as_of < end:
        end = start + max(0, month.version.as_of - start) // step_us * step_us
    return [(at, min(at + step_us, end)) for at in range(start, end, step_us)]


def by_cell(month: Month, step_us: int, places: Iterable[int]) -> dict[int, list[int]]:
    """Return requests by the interval they were received in."""
    found: dict[int, list[int]] = defaultdict(list)
    for j in places:
        found[(month.at[j] - month.period[0]) // step_us].append(j)
    return found


def window_tally(
    month: Month,
    objective: Objective,
    members: Sequence[int],
    standing: Sequence[int],
    values: Sequence[int | None],
) -> Tally:
    """Count windows, each with its percentile or mean; requests without an answer rank as the worst."""
    whole = Tally()
    step_us = objective.step_us or 1
    unknown_is_bad = month.version.unknown_is_bad
    cells = by_cell(month, step_us, members)
    for place, _ in enumerate(grid_of(month, step_us)):
        if place not in cells:
            continue
        tally = request_tally(cells[place], standing, values)
        whole.unknown += tally.unknown
        counted = tally.counted(unknown_is_bad=unknown_is_bad)
        if not counted:
            continue
        known = sorted(tally.values)
        if objective.kind == "latency":
            rank = rank_of(counted, objective.percentile)
            value = known[rank - 1] if rank <= len(known) else None
        elif objective.said["statistic"] == "mean":
            value = sum(known) // counted
        else:
            rank = rank_of(counted, Fraction(objective.said["statistic"][1:])) - (counted - len(known))
            value = known[rank - 1] if rank >= 1 else None
        whole.windows.append((counted, value))
    return whole


def shares(grid: Sequence[Span], spans: Iterable[Span]) -> list[int]:
    """Return how many microseconds of each interval lie in disjoint spans."""
    found = [0] * len(grid)
    starts = [start for start, _ in grid]
    for start, end in spans:
        place = max(bisect.bisect_right(starts, start) - 1, 0)
        while place < len(grid) and grid[place][0] < end:
            found[place] += max(0, min(end, grid[place][1]) - max(start, grid[place][0]))
            place += 1
    return found


class Cell:
    """One interval as availability by time sees it."""

    def __init__(self, looked_us: int, read_us: int, failed_us: int, counted: int, bad: int) -> None:
        """Take what was seen."""
        self.looked_us, self.is_read, self.counted, self.bad = looked_us, read_us == looked_us, counted, bad
        # probes failed where nothing was read, or nothing was logged: that is no quiet time
        self.is_silent_outage = failed_us > 0 and (not self.is_read or counted == 0)


def time_tally(
    month: Month,
    objective: Objective,
    members: Sequence[int],
    excluded: Excluded,
    failed_probes: Sequence[Span],
) -> Tally:
    """Count intervals: what is looked at of them, what was read through, and the requests in them."""
    step_us = objective.step_us or 1
    grid = grid_of(month, step_us)
    looked = month.version.looked_at(objective.during, month.period)
    looked = [span for part in looked for span in outside(excluded[0], part)]
    read = [span for part in month.gateway for span in clipped(looked, part)]
    failed = [span for part in clipped(failed_probes, month.elapsed) for span in clipped(looked, part)]
    requests = by_cell(month, step_us, (j for j in members if month.is_good(j) is not None))
    refused = by_cell(month, step_us, sorted(set(month.wrongly_refused()) & set(members)))
    cells = []
    for place, (looked_us, read_us, failed_us) in enumerate(
        zip(shares(grid, looked), shares(grid, read), shares(grid, failed))
    ):
        wrong = len(refused.get(place, ()))
        bad = sum(month.is_good(j) is False for j in requests.get(place, ())) + wrong
        cells.append(Cell(looked_us, read_us, failed_us, len(requests.get(place, ())) + wrong, bad))
    unread = month.version.clauses["unmeasured"]["time"]
    return (
        downtime(cells, objective, unread)
        if objective.formula == "downtime"
        else mean_error(cells, objective, unread)
    )


def downtime(cells: Sequence[Cell], objective: Objective, unread: str) -> Tally:
    """Count the time that counts and the time that was down: so many bad intervals in a row."""
    said = objective.said
    above = percent(said["bad_above"]) if said.get("bad_above") is not None else ZERO
    least, below_min = said.get("min_requests") or 0, said.get("below_min")

    def by_errors(counted: int, bad: int) -> str:
        return "bad" if bad > above * counted else "good"

    def unjudged(cell: Cell) -> str:
        if cell.looked_us == 0:
            return "void"
        if cell.is_silent_outage:
            return "bad"
        if cell.is_read:
            return str(said["empty"])
        seen_bad = cell.counted >= max(1, least) and by_errors(cell.counted, cell.bad) == "bad"
        return "bad" if unread == "bad" or seen_bad else "void"

    states: list[str] = ["void"] * len(cells)
    waiting: list[int] = []

    def settle() -> None:
        merged_state = by_errors(sum(cells[i].counted for i in waiting), sum(cells[i].bad for i in waiting))
        for i in waiting:
            states[i] = merged_state
        waiting.clear()

    for place, cell in enumerate(cells):
        if cell.looked_us == 0 or not cell.is_read or cell.counted == 0:
            settle()
            states[place] = unjudged(cell)
        elif below_min == "merge_next":  # waits for the next until there are enough requests together
            waiting.append(place)
            if sum(cells[i].counted for i in waiting) >= least:
                settle()
        elif cell.counted < least and below_min is not None:
            states[place] = below_min
        else:
            states[place] = by_errors(cell.counted, cell.bad)
    settle()
    down: set[int] = set()
    row: list[int] = []
    for place, state in enumerate([*states, "good"]):  # only a good interval ends a row
        if state == "bad":
            row.append(place)
        elif state == "good":
            down.update(row if len(row) >= said["consecutive"] else ())
            row = []
    counted = [
        i
        for i, state in enumerate(states)
        if state != "void" and (cells[i].is_read or unread == "bad" or i in down)
    ]
    tally = Tally()
    tally.intervals, tally.bad = len(counted), len(down)
    tally.unread = sum(cell.looked_us > 0 and not cell.is_read for cell in cells)
    tally.whole, tally.lost = (
        sum(cells[i].looked_us for i in counted),
        Fraction(sum(cells[i].looked_us for i in down)),
    )
    return tally


def mean_error(cells: Sequence[Cell], objective: Objective, unread: str) -> Tally:
    """Count intervals and the sum of their error ratios, exactly."""
    tally, empty = Tally(), objective.said["empty"]
    bad_by_counted: dict[int, int] = defaultdict(int)
    for cell in cells:
        if cell.looked_us == 0:
            continue
        tally.unread += not cell.is_read
        if (not cell.is_read and unread == "bad") or cell.is_silent_outage:
            counted, bad = 1, 1
        elif cell.counted:
            counted, bad = cell.counted, cell.bad
        elif not cell.is_read or empty == "void":
            continue
        else:
            counted, bad = 1, int(empty == "bad")
        tally.intervals += 1
        tally.bad += bad > 0
        bad_by_counted[counted] += bad
    tally.whole = tally.intervals
    tally.lost = sum((Fraction(bad, counted) for counted, bad in bad_by_counted.items()), ZERO)
    return tally


def judge(month: Month, promise: Promise, tally: Tally) -> Judged:
    """Judge a promise by a count; then come the clauses about small volumes, about coverage, and about cut months."""
    version, objective, found = month.version, promise.objective, Judged(promise, tally)
    if objective.is_timed:
        judge_time(found)
    elif objective.step_us is not None:
        judge_windows(found)
    else:
        found.counted = found.requests = tally.counted(unknown_is_bad=version.unknown_is_bad)
        found.over = tally.over + tally.unanswered + (tally.unknown if version.unknown_is_bad else 0)
        found.unknown = tally.unknown
        if objective.kind == "latency":
            found.kept = 100 * found.over <= (100 - objective.percentile) * found.counted
            found.allowed = share_over(found.counted, objective.percentile)
        else:
            found.kept = found.counted - found.over >= objective.target * found.counted
            found.allowed = math.floor((1 - objective.target) * found.counted)
            found.ratio = Fraction(found.counted - found.over, found.counted) if found.counted else None
            found.value = beside(found.ratio, objective.target)
    insufficient = version.clauses["insufficient"]
    found.verdict, found.reason = by_volume(
        found.counted if found.requests is None else found.requests,
        0 if found.requests is None else insufficient["below"],
        insufficient["verdict"],
        kept=found.kept,
    )
    under_floor(found, month, needs_engine=objective.needs_engine)
    if month.is_void:
        found.verdict, found.reason = "insufficient_data", "partial_month_void"
    return found


def by_volume(counted: int, least: int, otherwise: str, *, kept: bool) -> tuple[str, str]:
    """Return the verdict of a count, or what the contract says of too few requests."""
    if counted < least:
        return (otherwise if otherwise in ("met", "violated") else "insufficient_data"), "insufficient_volume"
    if counted == 0:
        return "insufficient_data", "nothing_counted"
    return ("met" if kept else "violated"), "counted"


def under_floor(found: Any, month: Month, *, needs_engine: bool) -> None:
    """Replace a verdict that is not already violated where too little of the time was read through."""
    unmeasured = month.version.clauses["unmeasured"]
    covered = min(length(month.gateway), length(month.engine)) if needs_engine else length(month.gateway)
    if found.verdict != "violated" and covered < percent(unmeasured["coverage_floor"]) * length(
        [month.elapsed]
    ):
        found.verdict = "violated" if unmeasured["below_floor"] == "violated" else "not_measured"
        found.reason = "below_coverage_floor"


def beside(value: Fraction | None, threshold: Fraction) -> float | None:
    """Return a ratio as a float that is not above its threshold where the ratio is not."""
    if value is None:
        return None
    shown, limit = float(value), float(threshold)
    return math.nextafter(limit, 0.0) if value < threshold and shown >= limit else shown


def judge_time(found: Judged) -> None:
    """Judge time: lost of the whole, against the target."""
    tally, objective = found.tally, found.promise.objective
    found.unit, found.counted, found.over, found.unknown = (
        "intervals",
        tally.intervals,
        tally.bad,
        tally.unread,
    )
    if objective.formula == "downtime":
        found.allowed = math.floor((1 - objective.target) * tally.intervals)
    found.ratio = 1 - tally.lost / tally.whole if tally.whole else None
    found.value = beside(found.ratio, objective.target)
    found.kept = tally.lost <= (1 - objective.target) * tally.whole


def judge_windows(found: Judged) -> None:
    """Judge windows: the worst, their mean, or the share of them that was fast enough."""
    objective, windows = found.promise.objective, found.tally.windows
    if objective.kind == "rate":
        windows = [each for each in windows if each[0] >= objective.said["min_requests"]]
        least = math.ceil(Fraction(objective.said["at_least"]) * 1_000_000)
        speeds = sorted(value or 0 for _, value in windows)
        found.over = sum(speed < least for speed in speeds)
        found.allowed = math.floor((1 - percent(objective.said["windows_met"])) * len(windows))
        found.kept = found.over <= found.allowed
        value: int | None = speeds[found.allowed] if speeds else None
    else:
        values = [value for _, value in windows if value is not None]
        silent = len(windows) - len(values)
        found.over = silent + sum(value > objective.limit_us for value in values)
        if objective.said.get("combine") == "mean":
            found.kept = not silent and sum(values) <= objective.limit_us * len(values)
            value = -(-sum(values) // len(values)) if values else None
        else:
            found.kept, found.allowed = found.over == 0, 0
            value = max(values, default=None)
        value = None if silent else value
    found.unit, found.counted, found.unknown = "windows", len(windows), found.tally.unknown
    found.requests = sum(counted for counted, _ in windows)
    found.value = seconds(value)  # millionths, of a second or of a token per second


# ---------------------------------------------------------------- 8. exclusions


class Claim:
    """What an exclusion asks of one month."""

    def __init__(
        self, id_: str, clause: str, state: str, windows: list[Tree], *, fits: bool = True, upstream: str = ""
    ) -> None:
        """Take it."""
        self.id, self.clause, self.state, self.windows, self.fits, self.upstream = (
            id_,
            clause,
            state,
            windows,
            fits,
            upstream,
        )
        self.proposal: Tree | None = None
        self.answer: Tree | None = None
        self.evidence: str | None = None

    @property
    def is_granted(self) -> bool:
        """Tell whether it is left out: accepted, or automatic by the contract."""
        return self.state in ("accepted", "automatic")

    @property
    def times(self) -> list[Span]:
        """Return the windows that can be left out."""
        return [each["span"] for each in self.windows if not each["counts"]] if self.fits else []


def standing_exclusions(
    entries: Sequence[Tree], as_of: int
) -> list[tuple[Tree, str, Tree | None, int | None]]:
    """Return (proposal, state, last answer, accepted at) of each exclusion, from what was said of it in order.

    An answer that could not be given then, such as one to an expired proposal, is passed over.
    """
    following = {
        "proposed": {"accepted", "disputed", "revoked"},
        "accepted": {"disputed", "revoked"},
        "disputed": {"accepted", "revoked"},
    }

    def at(state: str, proposal: Tree, now: int) -> str:
        return "expired" if state == "proposed" and now >= instant(proposal["answer_by"]) else state

    known: dict[str, tuple[Tree, str, Tree | None, int | None]] = {}
    for entry in sorted(
        entries, key=lambda each: (instant(each["stored_at"]), each["sequence"], each["state"])
    ):
        stored = instant(entry["stored_at"])
        if stored > as_of:
            continue
        if entry["id"] not in known:
            if entry["state"] == "proposed":
                known[entry["id"]] = (entry, "proposed", None, None)
            continue
        proposal, state, _, accepted = known[entry["id"]]
        now = at(state, proposal, stored)
        allowed = following.get(now, set()) | (
            {"accepted"} if now == "accepted" and proposal["ends_at"] is None else set()
        )
        if entry["state"] in allowed:
            known[entry["id"]] = (
                proposal,
                entry["state"],
                entry,
                stored if entry["state"] == "accepted" else accepted,
            )
    found = [
        (proposal, at(state, proposal, as_of), answer, accepted)
        for proposal, state, answer, accepted in known.values()
    ]
    return sorted(found, key=lambda each: (instant(each[0]["starts_at"]), each[0]["id"]))


class Rules:
    """A contract's clauses of exclusion."""

    def __init__(self, version: Version) -> None:
        """Read them."""
        said = version.clauses["exclusions"]
        self.names = [name for name in ("maintenance", "cold_start", "client_network") if name in said]
        self.capped = {name: said[name].get("cap_per_month") for name in self.names}
        self.names += [name for name in said["named"] if name not in self.names]
        maintenance = said.get("maintenance", {})
        self.notice_us = duration(maintenance.get("notice")) or 0
        self.notice_to = {each.casefold() for each in maintenance.get("notice_to", ())}
        self.late_counts = maintenance.get("emergency") == "counts"
        self.prorates = version.in_force is not None or version.clauses["period"]["partial"] == "prorated"

    def cap_us(self, name: str, month: Month) -> int | None:
        """Return how much of a month a clause may take; None: no limit. A clause that needs a cap and has none gets nothing."""
        if name not in self.capped:
            return None
        cap, whole, period = self.capped[name], length([month.whole]), length([month.period])
        if cap is None:
            return 0
        if cap.endswith("%"):
            return math.floor(percent(cap) * period)
        limit = duration(cap) or 0
        return limit * period // whole if self.prorates and whole else limit

    def is_late(self, clause: str, proposal: Tree, start: int) -> bool:
        """Tell whether a window lacks the notice that was due, in time or in addressees."""
        if clause != "maintenance" or not self.notice_us:
            return False
        told = instant_or_none(proposal["notice_at"])
        return (
            told is None
            or told > start - self.notice_us
            or not self.notice_to <= {each.casefold() for each in proposal["notice_to"]}
        )


def claims_of(bundle: Bundle, version: Version, month: Month, rules: Rules) -> list[Claim]:
    """Return what exclusions ask of a month, and the cold starts that the contract excludes by itself."""
    expanded = {
        (each["id"], span_of(each["within"])): each["windows"]
        for each in bundle.lines("exclusion_windows.jsonl")
    }
    claims = []
    for proposal, state, answer, accepted in standing_exclusions(
        bundle.lines("exclusions.jsonl"), version.as_of
    ):
        start, end = instant(proposal["starts_at"]), instant_or_none(proposal["ends_at"])
        if end is None:  # nobody agrees to what is yet to come
            agreed = accepted if state == "accepted" else None
            end = max(start, month.elapsed[1] if agreed is None else agreed)
        clause, windows = proposal["clause"], [{"from": written(start), "to": written(end), "change": None}]
        if proposal["recurrence"]:
            windows = expanded.get((proposal["id"], month.elapsed), [])
        found = []
        for window in windows:
            span = span_of(window)
            if not clipped([span], month.elapsed):
                continue
            late = clause in rules.names and rules.is_late(clause, proposal, span[0])
            found.append(
                {
                    "span": (max(span[0], month.elapsed[0]), min(span[1], month.elapsed[1])),
                    "late": late,
                    "retroactive": instant(proposal["stored_at"]) > span[0],
                    "counts": late and rules.late_counts,
                    "change": window["change"],
                }
            )
        if found:
            claim = Claim(proposal["id"], clause, state, found, fits=clause in rules.names)
            claim.proposal, claim.answer, claim.evidence = proposal, answer, proposal["evidence"]
            claims.append(claim)
    return claims + cold_starts(bundle, month, rules)


def cold_starts(bundle: Bundle, month: Month, rules: Rules) -> list[Claim]:
    """Return a claim for each engine's start up to its first served request, unless it started again before."""
    by_engine: dict[tuple[str, str], set[tuple[int, int | None, str]]] = defaultdict(set)
    for each in bundle.lines("engine_starts.jsonl") if "cold_start" in rules.names else ():
        if span_of(each["within"]) == month.elapsed:
            noted = (instant(each["started_at"]), instant_or_none(each["first_served_at"]), each["evidence"])
            by_engine[each["instance"], each["upstream"]].add(noted)
    claims = []
    for (engine, upstream), starts in by_engine.items():
        ordered = sorted(starts, key=lambda each: each[0])
        for (start, served, evidence), after in zip(ordered, [*ordered[1:], None]):
            if (
                served is None
                or served <= start
                or not upstream
                or (after is not None and served >= after[0])
            ):
                continue
            parts = clipped([(start, served)], month.elapsed)
            if parts:
                name = (EPOCH + start * MICROSECOND).strftime("%Y%m%dT%H%M%S.%fZ")
                window = {
                    "span": parts[0],
                    "late": False,
                    "retroactive": False,
                    "counts": False,
                    "change": None,
                }
                claim = Claim(
                    f"cold_start:{engine}:{name}", "cold_start", "automatic", [window], upstream=upstream
                )
                claim.evidence = evidence
                claims.append(claim)
    return sorted(claims, key=lambda each: (each.windows[0]["span"][0], each.id))


class Plan:
    """What is left out of a month if exactly some claims are granted: each clause's cap is dealt in time order."""

    def __init__(self, claims: Sequence[Claim], rules: Rules, month: Month) -> None:
        """Deal the caps."""
        self.caps = {name: rules.cap_us(name, month) for name in rules.names}
        self.used: dict[str, int] = {}
        self.granted: dict[str, list[Span]] = {}
        for name in rules.names:
            dealt, left = [], self.caps[name]
            for start, end in merged(
                window for claim in claims if claim.clause == name for window in claim.times
            ):
                stop = end if left is None else min(end, start + left)
                if start < stop:
                    dealt.append((start, stop))
                left = None if left is None else left - max(0, stop - start)
            self.used[name] = length(dealt)
            for claim in claims:
                if claim.clause == name:
                    self.granted[claim.id] = [
                        part for time in merged(claim.times) for part in clipped(dealt, time)
                    ]
        self.upstreams = {claim.id: claim.upstream for claim in claims}


def excluded_by(plans: Iterable[Plan]) -> Excluded:
    """Return what plans leave out: instants, and instants for what was sent to one upstream."""
    times: dict[str, list[Span]] = defaultdict(list)
    for plan in plans:
        for id_, spans in plan.granted.items():
            times[plan.upstreams[id_]] += spans
    routed = {upstream: tuple(merged(spans)) for upstream, spans in times.items()}
    instants = routed.pop("", ())
    return instants, tuple(sorted((upstream, spans) for upstream, spans in routed.items() if spans))


# ---------------------------------------------------------------- 9. one version's month


class Reading:
    """What one version says of its part of the month."""

    def __init__(self, bundle: Bundle, version: Version, rows: dict[str, list[Any]], label: str) -> None:
        """Count and judge."""
        self.bundle, self.version, self.label = bundle, version, label
        covered = {kind: merged(map(span_of, spans)) for kind, spans in bundle.json("covered.json").items()}
        self.months = {each: Month(version, each, rows, covered) for each in version.labels}
        self.month = month = self.months[label]
        self.failed_probes = failed_probes(bundle.lines("probes.jsonl"), version)
        self.promises = list(promises_of(version, month))
        self.rules = Rules(version)
        self.claims = claims_of(bundle, version, month, self.rules)
        self.plan = self.planned(lambda claim: claim.is_granted)
        self.before = [
            Plan(
                [each for each in claims_of(bundle, version, earlier, self.rules) if each.is_granted],
                self.rules,
                earlier,
            )
            for earlier in (
                [self.months[each] for each in version.labels if each != label]
                if version.carries_over
                else ()
            )
        ]
        self.excluded = excluded_by([self.plan, *self.before])
        self.carried = {promise.key: self.carried_to(promise, self.excluded) for promise in self.promises}
        self.judged = self.judged_without(self.excluded)

    def planned(self, chosen: Callable[[Claim], bool]) -> Plan:
        """Return the plan if some of the claims are granted."""
        return Plan([each for each in self.claims if chosen(each)], self.rules, self.month)

    def judged_without(self, excluded: Excluded) -> list[Judged]:
        """Return every promise's verdict with some requests left out, here and in the months that hand requests on."""
        found = []
        for promise in self.promises:
            own = tally_of(self.month, promise, excluded, self.failed_probes)
            carried = self.carried_to(promise, excluded)
            found.append(judge(self.month, promise, own if carried is None else own.add(carried)))
        return found

    def carried_to(self, promise: Promise, excluded: Excluded) -> Tally | None:
        """Return what earlier months hand on: a month without a verdict for want of requests, its own requests, once."""
        if not self.version.carries_over or self.month.is_void or promise.objective.is_timed:
            return None

        def own(month: Month) -> Tally:
            return Tally() if month.is_void else tally_of(month, promise, excluded, self.failed_probes)

        def is_open(month: Month, tally: Tally) -> bool:
            judged = judge(month, promise, tally)
            least = self.version.clauses["insufficient"]["below"]
            return (
                judged.requests is not None
                and judged.requests < least
                and judged.verdict not in ("met", "violated")
            )

        chain = []
        for label in self.version.months_before(self.label):
            if label not in self.months:
                raise Unreadable(
                    f"requests.parquet: the requests of {label} are needed to know what was carried over, and are not here"
                )
            chain.append(self.months[label])
            if not is_open(chain[-1], own(chain[-1])):
                break
        carried = Tally()
        for month in reversed(chain):
            tally = own(month)
            carried = tally if is_open(month, tally) and is_open(month, tally.add(carried)) else Tally()
        return carried


def concerns(probe: Tree, version: Version) -> bool:
    """Tell whether a probe says something of the contract's service; what it leaves open is in scope."""
    scope = version.clauses["scope"]
    if probe["outcome"] in ("quota_rejected", "client_error", "aborted", "not_sent"):
        return False
    return probe["tenant"] in {"", *version.tenants} and all(
        not scope[names] or probe[name] in {"", *scope[names]}
        for name, names in (("model", "models"), ("region", "regions"))
    )


def failed_probes(probes: Sequence[Tree], version: Version) -> list[Span]:
    """Return when the service did not answer probes: from each that failed to the next of its target, at most an hour."""
    series: dict[tuple[str, str, str], list[tuple[int, str, str]]] = defaultdict(list)
    for each in probes:
        if concerns(each, version):
            series[each["target"], each["model"], each["region"]].append(
                (instant(each["intended_at"]), each["id"], each["outcome"])
            )
    found = []
    for sent in series.values():
        sent.sort()
        for (at, _, outcome), after in zip(sent, [*sent[1:], None]):
            if outcome != "ok":
                found.append((at, min(at + HOUR_US, at + HOUR_US if after is None else after[0])))
    return merged(found)


def promises_of(version: Version, month: Month) -> Iterable[Promise]:
    """Yield what gets a verdict, in the file's order: each promise, once for each part that the contract judges apart."""
    per = version.clauses["evaluate_per"]
    parts: list[dict[str, str | None] | None] = [None]
    if per != "none":
        choices: dict[str, Sequence[str | None]] = {}
        for column in ("model", "region"):
            logged = sorted({value for value in month.rows[column] if value})
            named = version.clauses["scope"][f"{column}s"]
            choices[column] = (named or logged or [None]) if column in per else [None]
        parts = [
            {"model": model, "region": region}
            for model, region in product(choices["model"], choices["region"])
        ]
    for number, objective in enumerate(version.objectives):
        if objective.kind == "cost":
            continue
        for part in parts:
            wanted = [
                (part or {}).get(column)
                in {None, *objective.where.get(f"{column}s", [(part or {}).get(column)])}
                for column in ("model", "region")
            ]
            if all(wanted):
                yield Promise(number, objective, part)


# ---------------------------------------------------------------- 10. the report's sections


class Whole:
    """The month as all its versions judge it."""

    def __init__(self, readings: list[Reading], as_of: int) -> None:
        """Take the versions' parts, in time order."""
        self.readings, self.as_of = readings, as_of
        self.latest = readings[-1].version
        self.period: Span = (readings[0].month.period[0], readings[-1].month.period[1])
        self.elapsed: Span = (self.period[0], readings[-1].month.elapsed[1])

    def count(self, test: Callable[[Month, int], bool]) -> int:
        """Return how many requests pass a test."""
        return sum(test(each.month, j) for each in self.readings for j in range(each.month.count))

    def times(
        self, clock: str, test: Callable[[Month, int], bool] = lambda month, j: month.endings[j] == "ok"
    ) -> list[int]:
        """Return the known values of a clock, sorted, of the requests that pass a test."""
        return sorted(
            value
            for each in self.readings
            for j, value in enumerate(each.month.clock(clock))
            if value is not None and test(each.month, j)
        )


def contract_section(whole: Whole) -> Tree:
    """Return what the report repeats of the contract."""
    clauses = whole.latest.clauses
    quota = clauses.get("quota")
    return {
        "id": clauses["id"],
        "title": clauses["title"],
        "version_sha256": whole.latest.sha256,
        "provider": {"name": clauses["provider"]["name"]},
        "customer": {"name": clauses["customer"]["name"], "tenants": clauses["customer"]["tenants"]},
        "term": clauses["term"],
        "clock": clauses["clock"],
        "scope": clauses["scope"],
        "language": clauses.get("language"),
        "period": clauses["period"],
        "evaluate_per": clauses["evaluate_per"],
        "retries": "all" if clauses["retries"] == "all" else "with_backoff",
        "quota": None if quota is None else {"requests_per_minute": None, "tokens_per_minute": None, **quota},
        "insufficient": clauses["insufficient"],
        "versions": [
            {
                "version_sha256": each.version.sha256,
                "from": written(each.month.period[0]),
                "to": written(each.month.period[1]),
            }
            for each in whole.readings
        ],
    }


def period_section(whole: Whole, label: str) -> Tree:
    """Return the month as instants and hours."""
    hours = Fraction(length([whole.period]), HOUR_US)
    zone = whole.latest.clauses["term"]["time_zone"]
    return {
        "month": label,
        "from": written(whole.period[0]),
        "to": written(whole.period[1]),
        "time_zone": zone,
        "hours": plain(hours),
    }


def traffic_section(whole: Whole) -> Tree:
    """Return the requests by how they ended and how they were measured."""
    engines = {id(each.month): Lookup(each.month.engine) for each in whole.readings}
    left_out = {id(each.month): each.month.left_out(each.excluded) for each in whole.readings}
    return {
        "admitted": sum(each.month.count for each in whole.readings),
        "excluded": whole.count(lambda month, j: left_out[id(month)][j]),
        "unconfirmed": whole.count(
            lambda month, j: (
                month.endings[j] == "ok"
                and month.rows["engine"][j] != "joined"
                and engines[id(month)].holds(month.at[j])
            )
        ),
        "quarantined": whole.count(lambda month, j: month.rows["engine"][j] == "quarantined"),
        "ambiguous": whole.count(lambda month, j: month.rows["engine"][j] == "ambiguous"),
        "retried": whole.count(lambda month, j: month.rows["attempts"][j] > 1),
        "outcomes": {
            name: sum(each.month.endings.count(name) for each in whole.readings) for name in OUTCOMES
        },
    }


def coverage_section(whole: Whole, traffic: Tree, covered: Tree) -> Tree:
    """Return the shares of time read through, and of answered requests with a usable measurement of the engine's."""
    read = {
        kind: length(clipped(map(span_of, covered[kind]), whole.elapsed)) for kind in ("gateway", "engine")
    }
    joined = whole.count(lambda month, j: month.endings[j] == "ok" and month.rows["engine"][j] == "joined")
    elapsed = length([whole.elapsed])
    return {
        "gateway": ratio(read["gateway"], elapsed),
        "engine": ratio(read["engine"], elapsed),
        "joined": ratio(joined, traffic["outcomes"]["ok"]),
    }


def latency_section(whole: Whole) -> list[Tree]:
    """Return the percentiles of every clock over answered requests."""
    rows = []
    for clock in CLOCKS:
        values = whole.times(clock)
        p99, interval = shown_percentile(values, len(values), Fraction(99))
        p50, p95 = (shown_percentile(values, len(values), Fraction(p))[0] for p in (50, 95))
        top = seconds(values[-1]) if values else None
        rows.append(
            {
                "clock": clock,
                "n": len(values),
                "p50": p50,
                "p95": p95,
                "p99": p99,
                "p99_interval": interval,
                "max": top,
            }
        )
    return rows


CURVE = (
    "10", "20", "30", "40", "50", "60", "70", "75", "80", "85", "90", "93", "95", "97", "98", "98.5", "99", "99.3", "99.5",
    "99.7", "99.8", "99.9", "99.95", "99.97", "99.98", "99.99",
)  # fmt: skip


def curve_section(whole: Whole) -> list[Tree]:
    """Return the percentiles with and without queueing, as far as at least one request lies above."""
    with_queue, without = whole.times("end_to_end"), whole.times("excluding_queue")
    count = len(with_queue)
    return [
        {
            "percentile": plain(p),
            "with_queue": seconds(with_queue[rank_of(count, p) - 1]),
            "without_queue": seconds(without[rank_of(count, p) - 1]),
        }
        for p in map(Fraction, CURVE)
        if (100 - p) * count >= 100
    ]


def breakdown_section(whole: Whole) -> Tree:
    """Return where the time of fully measured requests went; the network is what the other phases leave."""
    phases = ("frontend", "queue", "prefill", "decode")

    def is_measured(month: Month, j: int) -> bool:
        rows = month.rows
        return (
            month.endings[j] == "ok"
            and rows["engine"][j] == "joined"
            and all(rows[f"{name}_us"][j] is not None for name in phases)
        )

    sums = {
        name: sum(
            each.month.rows[f"{name}_us"][j]
            for each in whole.readings
            for j in range(each.month.count)
            if is_measured(each.month, j)
        )
        for name in phases
    }
    elapsed = whole.times("end_to_end", is_measured)
    sums["network"] = sum(elapsed) - sum(sums.values())
    return {
        name: {
            "seconds": round(Fraction(us, len(elapsed))) / SECOND_US if elapsed else None,
            "share": ratio(us, sum(elapsed)),
        }
        for name, us in sums.items()
    }


def daily_section(whole: Whole) -> list[Tree]:
    """Return the P99 of each local day, with and without queueing."""
    rows = []
    for day, (start, end) in local_days(whole.period, whole.latest.zone):
        both = [
            whole.times(clock, lambda month, j: month.endings[j] == "ok" and start <= month.at[j] < end)  # noqa: B023
            for clock in ("end_to_end", "excluding_queue")
        ]
        n = len(both[0])
        p99 = [seconds(values[rank_of(n, Fraction(99)) - 1]) if n else None for values in both]
        rows.append({"date": day.isoformat(), "n": n, "p99_with_queue": p99[0], "p99_without_queue": p99[1]})
    return rows


def objective_rows(reading: Reading, costs: dict[int, Tree]) -> list[Tree]:
    """Return the verdicts of one version, in the file's order."""
    version, rows = reading.version, []
    without = {judged.promise.key: judged.verdict for judged in reading.judged_without(NOTHING)}
    for number, objective in enumerate(version.objectives):
        promised = objective.promised(number)
        for judged in (each for each in reading.judged if each.promise.number == number):
            carried = reading.carried[judged.promise.key]
            value, interval = judged.value, None
            if objective.kind == "latency" and objective.step_us is None:
                value, interval = shown_percentile(
                    sorted(judged.tally.values), judged.counted, objective.percentile
                )
            handed_on = 0
            if carried is not None:
                by_window = sum(counted for counted, _ in carried.windows)
                handed_on = (
                    carried.counted(unknown_is_bad=version.unknown_is_bad)
                    if objective.step_us is None
                    else by_window
                )
            rows.append(
                {
                    **promised,
                    "part": judged.promise.shown_part,
                    "unit": judged.unit,
                    "n": judged.counted,
                    "violations": judged.over,
                    "allowed": judged.allowed,
                    "good": judged.counted - judged.over,
                    "bad": judged.over,
                    "unknown": judged.unknown,
                    "requests": judged.requests,
                    "carried": handed_on,
                    "value": value,
                    "interval": interval,
                    "verdict": judged.verdict,
                    "verdict_without_exclusions": without[judged.promise.key],
                    "reason": None if judged.reason == "counted" else judged.reason,
                    "version_sha256": version.sha256,
                }
            )
        if objective.kind == "cost":
            rows.append(
                {**promised, "part": None, **costs.get(number, NO_COST), "version_sha256": version.sha256}
            )
    return rows


NO_COST: Tree = {
    **dict.fromkeys(
        (
            "violations",
            "allowed",
            "good",
            "bad",
            "unknown",
            "interval",
            "unit",
            "n",
            "requests",
            "carried",
            "value",
        )
    ),
    "verdict": "not_measured",
    "verdict_without_exclusions": "not_measured",
    "reason": "not_evaluated",
}


def against(month: Month, promise: Promise, excluded: Excluded, *, with_refused: bool) -> list[int]:
    """Return the requests that count against a promise about single requests, in the order of receipt."""
    objective, gone = promise.objective, month.left_out(excluded)
    members = [j for j in month.members(promise) if not gone[j]]
    if objective.kind == "availability":
        refused = set(month.wrongly_refused()) if with_refused else set()
        return [j for j in members if month.is_good(j) is False or j in refused]
    failing = {OVER, UNANSWERED, *((UNKNOWN,) if month.version.unknown_is_bad else ())}
    standing = month.standing(objective)
    return [j for j in members if standing[j] in failing]


def budget_rows(reading: Reading) -> list[Tree]:
    """Return the budget of every promise that allows a share to be bad, and when it was used up."""
    rows = []
    for judged in reading.judged:
        objective, tally = judged.promise.objective, judged.tally
        unit, counted, spent = 1, Fraction(judged.counted), Fraction(judged.over)
        if objective.kind == "rate":
            kind, share = "windows", 1 - percent(objective.said["windows_met"])
        elif objective.is_timed:
            # an interval's error ratio is the part of it that was lost
            of = 1 if objective.formula == "downtime" else objective.step_us or 1
            kind, share, unit = "time", 1 - objective.target, SECOND_US
            counted, spent = Fraction(tally.whole * of), tally.lost * of
        elif objective.step_us is None:
            kind, share = (
                "requests",
                1 - (objective.target if objective.kind == "availability" else objective.percentile / 100),
            )
        else:
            continue
        if not 0 < share < 1:
            continue
        allowed = share * counted if kind == "time" else Fraction(math.floor(share * counted))
        left = allowed - spent
        rows.append(
            {
                "objective": objective.name,
                "kind": kind,
                "allowed": plain(allowed / unit),
                "spent": plain(spent / unit),
                "remaining": plain(left / unit),
                "remaining_ratio": float(left / allowed) if allowed else None,
                "is_exhausted": spent > allowed,
                "exhausted_at": exhausted_at(reading, judged)
                if kind == "requests" and spent > allowed
                else None,
                "carried": carried_bad(reading, judged) if kind == "requests" else None,
                "daily": burn_down(reading, judged) if kind == "requests" else None,
                "part": judged.promise.shown_part,
                "version_sha256": reading.version.sha256,
            }
        )
    return rows


def exhausted_at(reading: Reading, judged: Judged) -> str | None:
    """Return when the request was received that was one too many; those carried over came first."""
    place = (judged.allowed or 0) - carried_bad(reading, judged)
    if place < 0:
        return written(reading.month.period[0])
    bad = against(reading.month, judged.promise, reading.excluded, with_refused=True)
    return written(reading.month.at[bad[place]]) if place < len(bad) else None


def carried_bad(reading: Reading, judged: Judged) -> int:
    """Return how many bad requests earlier months handed on."""
    carried = reading.carried[judged.promise.key]
    if carried is None:
        return 0
    return carried.over + carried.unanswered + (carried.unknown if reading.version.unknown_is_bad else 0)


def local_days(period: Span, zone: tzinfo) -> list[tuple[date, Span]]:
    """Return the local days that a period touches, cut to it."""
    days, day, start = [], local_day(period[0], zone), period[0]
    while start < period[1]:
        end = min(local_instant(day + DAY, 0, zone), period[1])
        if start < end:
            days.append((day, (start, end)))
            start = end
        day += DAY
    return days


def burn_down(reading: Reading, judged: Judged) -> list[Tree]:
    """Return what a budget of requests spent on each local day of the month."""
    month = reading.month
    bad = [month.at[j] for j in against(month, judged.promise, reading.excluded, with_refused=True)]
    return [
        {"date": day.isoformat(), "spent": bisect.bisect_left(bad, end) - bisect.bisect_left(bad, start)}
        for day, (start, end) in local_days(month.period, reading.version.zone)
    ]


def exclusion_rows(reading: Reading) -> list[Tree]:
    """Return every exclusion that touches the month, and what would be otherwise with it or without it."""
    claims, plan = reading.claims, reading.plan
    cold = {claim.id for claim in claims if claim.clause == "cold_start"}
    rows = []
    for claim in claims:
        effect = None
        if (
            claim.is_granted
        ):  # without it; cold starts stand and fall together, but each leaves out its own requests
            apart = {claim.id}
            together = cold if claim.clause == "cold_start" else apart
            other = reading.planned(lambda each, gone=together: each.is_granted and each.id not in gone)  # type: ignore[misc]
            fewer = reading.planned(lambda each, gone=apart: each.is_granted and each.id not in gone)  # type: ignore[misc]
            effect = effect_of(reading, other, more=plan, fewer=fewer)
        elif claim.state in ("proposed", "disputed"):  # with it
            other = reading.planned(lambda each, id_=claim.id: each.is_granted or each.id == id_)  # type: ignore[misc]
            effect = effect_of(reading, other, more=other, fewer=plan)
        rows.append({**claim_row(claim, plan), "effect": effect, "version_sha256": reading.version.sha256})
    return sorted(rows, key=lambda each: (each["windows"][0]["from"], each["id"]))


def effect_of(reading: Reading, other: Plan, *, more: Plan, fewer: Plan) -> Tree:
    """Return how many requests one plan leaves out and another does not, and the verdicts that would be others."""
    gone, kept = (reading.month.left_out(excluded_by([each])) for each in (more, fewer))
    then = reading.judged_without(excluded_by([other, *reading.before]))
    return {
        "requests": sum(one and not two for one, two in zip(gone, kept)),
        "verdicts": [
            {"objective": now.promise.full_name, "is": now.verdict, "would_be": would.verdict}
            for now, would in zip(reading.judged, then)
            if now.verdict != would.verdict
        ],
    }


def claim_row(claim: Claim, plan: Plan) -> Tree:
    """Return an exclusion as the report lists it."""
    proposal, answer = claim.proposal, claim.answer
    said: Tree = proposal or {}
    first, last = claim.windows[0]["span"][0], claim.windows[-1]["span"][1]
    return {
        "id": claim.id,
        "clause": f"exclusions.{claim.clause}",
        "state": claim.state,
        "automatic": proposal is None,
        "from": said["starts_at"] if proposal else written(first),
        "to": said["ends_at"] if proposal else written(last),
        "recurrence": said.get("recurrence") or None,
        "time_zone": said.get("time_zone"),
        "upstream": claim.upstream or None,
        "reason": said.get("reason"),
        "author": said.get("author"),
        "evidence": claim.evidence or None,
        "recorded_at": said.get("stored_at"),
        "notice": {"at": said["notice_at"], "to": said["notice_to"]} if said.get("notice_at") else None,
        "answer": None
        if answer is None
        else {
            "state": answer["state"],
            "author": answer["author"],
            "at": answer["stored_at"],
            "comment": answer["comment"] or None,
            "evidence": answer["answer_evidence"] or None,
        },
        "in_contract": claim.fits,
        "late": any(each["late"] for each in claim.windows),
        "retroactive": any(each["retroactive"] for each in claim.windows),
        "windows": [
            {
                "from": written(each["span"][0]),
                "to": written(each["span"][1]),
                **{name: each[name] for name in ("late", "retroactive", "counts", "change")},
            }
            for each in claim.windows
        ],
        "cap": {
            "claimed_seconds": seconds(length(merged(each["span"] for each in claim.windows))),
            "granted_seconds": seconds(length(merged(plan.granted.get(claim.id, ())))),
            "allowed_seconds": seconds(plan.caps.get(claim.clause)),
            "used_seconds": seconds(plan.used.get(claim.clause, 0)),
        },
    }


def degradation_rows(whole: Whole, entries: Sequence[Tree]) -> list[Tree]:
    """Return the degradations of the contract's tenants that touch the month, with the requests in them by mode."""
    levels = whole.latest.clauses.get("quality", {}).get("levels", [])
    rows = []
    for said in entries:
        start = instant(said["starts_at"])
        end = instant_or_none(said["ends_at"]) or max(start, whole.elapsed[1])
        for time_ in clipped([(start, end)], whole.elapsed):
            modes: dict[str, int] = defaultdict(int)
            for each in whole.readings:
                for j, at in enumerate(each.month.at):
                    if time_[0] <= at < time_[1] and (
                        not said["tenants"] or each.month.rows["tenant"][j] in said["tenants"]
                    ):
                        modes[each.month.rows["inference_mode"][j]] += 1
            level = next(
                (each["name"] for each in levels if said["mode"] and said["mode"] in each["modes"]), None
            )
            row = {name: said[name] or None for name in ("mode", "kind", "engine", "evidence")}
            row.update({name: said[name] for name in ("id", "reason", "author", "origin", "tenants")})
            row.update(
                {
                    "level": said["level"] or level,
                    "from": said["starts_at"],
                    "to": said["ends_at"],
                    "recorded_at": said["stored_at"],
                }
            )
            row.update(
                {
                    "seconds": seconds(length([time_])),
                    "requests": sum(modes.values()),
                    "requests_by_mode": dict(modes),
                }
            )
            rows.append(row)
    return rows


# ---------------------------------------------------------------- 11. incidents

LEAST_BAD, GOOD_MINUTES, SILENT_MINUTES, UNMEASURED_MINUTES, MOST_LOOKED_INTO = 5, 5, 60, 360, 10
Minute = tuple[int, int, int, Fraction]  # start, counted, bad, the share that may be bad


def is_bad_minute(minute: Minute) -> bool:
    """Say whether more of a minute was bad than the promise allows."""
    return minute[2] > minute[3] * minute[1]


def minutes_of(whole: Whole) -> dict[str, list[Minute]]:
    """Return what counted minute by minute for each promise about single requests; what is unknown or left out does not."""
    found: dict[str, dict[int, Minute]] = defaultdict(dict)
    for reading in whole.readings:
        month, gone = reading.month, reading.month.left_out(reading.excluded)
        for number, objective in enumerate(reading.version.objectives):
            if objective.kind not in ("latency", "availability"):
                continue
            if objective.kind == "latency":
                share = 1 - objective.percentile / 100
            else:
                above = objective.said.get("bad_above")
                share = 1 - objective.target if above is None else percent(above)
            promise = Promise(number, objective, None)
            bad = set(against(month, promise, reading.excluded, with_refused=True))
            if objective.kind == "latency":
                standing = month.standing(objective)
                bad = {j for j in bad if standing[j] != UNKNOWN}
                good = {j for j in month.members(promise) if not gone[j] and standing[j] == KEPT}
            else:
                good = {j for j in month.members(promise) if not gone[j] and month.is_good(j)}
            if not bad:
                continue
            counts: dict[int, list[int]] = defaultdict(lambda: [0, 0])
            for j in good | bad:
                counts[month.at[j] // MINUTE_US * MINUTE_US][j in bad] += 1
            minutes = found[objective.name]
            for start, (fine, wrong) in counts.items():
                _, counted, before, other = minutes.get(start, (start, 0, 0, share))
                minutes[start] = (start, counted + fine + wrong, before + wrong, min(share, other))
    return {
        name: sorted(minutes.values())
        for name, minutes in found.items()
        if any(map(is_bad_minute, minutes.values()))
    }


def incident_rows(whole: Whole, covered: Tree, told: Sequence[Tree], contract: str) -> list[Tree]:
    """Return the incidents: bad minutes that belong together, under the names that were told first."""
    read = [
        minute
        for start, end in clipped(map(span_of, covered["gateway"]), whole.elapsed)
        for minute in range(-(-start // MINUTE_US) * MINUTE_US, end // MINUTE_US * MINUTE_US, MINUTE_US)
    ]
    found = []
    for objective, minutes in sorted(minutes_of(whole).items()):
        groups = grouped(minutes, read, whole.elapsed[1])
        names = named_groups(
            contract,
            objective,
            [each for each, _ in groups],
            [each for each in told if each["objective"] == objective],
        )
        found += [(objective, name, group, is_open) for (group, is_open), name in zip(groups, names)]
    found.sort(key=lambda each: (each[2][0][0], each[0], each[1]))
    greatest = sorted(
        found, key=lambda each: (-sum(minute[2] for minute in each[2]), each[2][0][0], each[0])
    )[:MOST_LOOKED_INTO]
    looked_into = {name for _, name, _, _ in greatest}
    rows = []
    for objective, name, group, is_open in found:
        start, end = group[0][0], group[-1][0] + MINUTE_US
        bad = [minute for minute in group if is_bad_minute(minute)]
        worst = max(bad, key=lambda each: (Fraction(each[2], each[1]), each[2], -each[0]))
        tenants, value, unanswered = (
            hits(whole, objective, (start, end)) if name in looked_into else (None, None, None)
        )
        clocks = [
            each.clock
            for reading in whole.readings
            for each in reading.version.objectives
            if each.name == objective and each.kind == "latency"
        ]
        rows.append(
            {
                "id": name,
                "objective": objective,
                "from": written(start),
                "to": written(end),
                "ongoing": is_open and whole.elapsed[1] >= whole.as_of,
                "requests": sum(minute[1] for minute in group),
                "bad": sum(minute[2] for minute in group),
                "bad_minutes": len(bad),
                "worst": {
                    "value": seconds(value),
                    "clock": clocks[-1] if clocks else None,
                    "unanswered": unanswered,
                    "minute": {"bad": worst[2], "requests": worst[1]},
                },
                "tenants_hit": tenants,
            }
        )
    return rows


def grouped(minutes: Sequence[Minute], read: Sequence[int], known_to: int) -> list[tuple[list[Minute], bool]]:
    """Return the groups of bad minutes in which enough went wrong, and whether each would go on with another bad one.

    Two bad minutes belong together unless enough good ones, or too many silent or unmeasured ones, lie between.
    """
    bad = [place for place, minute in enumerate(minutes) if is_bad_minute(minute)]
    is_read = set(read)

    def linked(earlier: int, later: int, until: int) -> bool:
        good = later - earlier - 1
        start = minutes[earlier][0]
        silent = bisect.bisect_left(read, until) - bisect.bisect_right(read, start)
        silent -= sum(minute[0] in is_read and minute[0] < until for minute in minutes[earlier + 1 : later])
        between = max((until - start) // MINUTE_US - 1, 0)
        return (
            good < GOOD_MINUTES and silent <= SILENT_MINUTES and between - good - silent <= UNMEASURED_MINUTES
        )

    parts = [[bad[0]]]
    for earlier, later in zip(bad, bad[1:]):
        if linked(earlier, later, minutes[later][0]):
            parts[-1].append(later)
        else:
            parts.append([later])
    goes_on = linked(bad[-1], len(minutes), known_to // MINUTE_US * MINUTE_US)
    groups = [(list(minutes[part[0] : part[-1] + 1]), goes_on and part is parts[-1]) for part in parts]
    return [
        each for each in groups if sum(minute[2] for minute in each[0] if is_bad_minute(minute)) >= LEAST_BAD
    ]


def named_groups(
    contract: str, objective: str, groups: Sequence[list[Minute]], told: Sequence[Tree]
) -> list[str]:
    """Return each group's name: the one told first of an incident with a minute in common, else that of its first bad minute."""
    known = sorted(
        told,
        key=lambda each: (
            each["state"] == "withdrawn",
            instant(each["first_told_at"]),
            instant(each["from"]),
            each["id"],
        ),
    )
    taken: set[str] = set()
    names = []
    for group in groups:
        start, end = group[0][0], group[-1][0] + MINUTE_US
        same = [
            each["id"]
            for each in known
            if each["id"] not in taken and instant(each["from"]) < end and start < instant(each["to"])
        ]
        others = taken | {each["id"] for each in known}
        fresh = [incident_name(contract, objective, minute[0]) for minute in group]
        fresh.append(incident_name(contract, f"{objective}\n{len(others)}", start))
        names.append(
            same[0] if same else next((name for name in fresh[:-1] if name not in others), fresh[-1])
        )
        taken.add(names[-1])
    return names


def incident_name(contract: str, objective: str, minute: int) -> str:
    """Return the name that a minute gives."""
    return "inc-" + hashlib.sha256(f"{contract}\n{objective}\n{written(minute)}".encode()).hexdigest()[:16]


def hits(whole: Whole, name: str, time_: Span) -> tuple[list[str], int | None, int]:
    """Return whose requests were bad in a time, the longest on the clock (µs), and how many had no value."""
    tenants: set[str] = set()
    longest: list[int] = []
    unanswered = 0
    for reading in whole.readings:
        month = reading.month
        chosen = [
            (number, each) for number, each in enumerate(reading.version.objectives) if each.name == name
        ]
        for number, objective in chosen[:1]:
            standing = month.standing(objective) if objective.kind == "latency" else []
            for j in against(month, Promise(number, objective, None), reading.excluded, with_refused=False):
                if not time_[0] <= month.at[j] < time_[1] or (standing and standing[j] == UNKNOWN):
                    continue
                tenants.add(month.rows["tenant"][j])
                if standing and standing[j] == OVER:
                    longest.append(month.clock(str(objective.clock))[j] or 0)
                else:
                    unanswered += 1
    return sorted(tenants), max(longest, default=None), unanswered


# ---------------------------------------------------------------- 12. the ledger


class Money:
    """A currency, the digits of it that are paid, and its rule of rounding."""

    def __init__(self, prices: Tree) -> None:
        """Read it from a price version."""
        self.code, self.digits, self.rule = (
            prices["currency"]["code"],
            prices["currency"]["digits"],
            prices["rounding"],
        )

    def units(self, amount: Fraction) -> int:
        """Return an amount in units of the last digit, rounded."""
        scaled: Fraction = amount * 10**self.digits
        if self.rule == "half_even":
            return round(scaled)
        size = math.floor(abs(scaled) + (Fraction(1, 2) if self.rule == "half_up" else 0))
        return -size if scaled < 0 else size

    def exact(self, units: int) -> Fraction:
        """Return units as an amount."""
        return Fraction(units, 10**self.digits)

    def text(self, amount: Fraction) -> str:
        """Write an amount as it is paid."""
        units = self.units(amount)
        return str(Decimal((int(units < 0), tuple(map(int, str(abs(units)))), -self.digits)))

    def apportioned(self, amounts: Sequence[Fraction], total: int | None = None) -> list[Fraction]:
        """Return amounts rounded so that they sum to the rounded total: by the largest remainder, the first of equals first."""
        scaled = [amount * 10**self.digits for amount in amounts]
        units = [math.floor(each) for each in scaled]
        missing = (self.units(sum(amounts, ZERO)) if total is None else total) - sum(units)
        order = sorted(range(len(units)), key=lambda place: (units[place] - scaled[place], place))
        for place in order[: max(missing, 0)]:
            units[place] += 1
        return [self.exact(each) for each in units]


def ledger_faults(rows: Sequence[Tree], ends: Sequence[Sequence[Any]]) -> tuple[list[Tree], list[str]]:
    """Return the entries that hold, in order, and a sentence for everything that is wrong with a chain.

    An entry's hash is the SHA-256 of the line fairclock.ledger/1, the line with the hash of the entry before, and its
    bytes. Where two entries continue the same one, that which was stored first holds.
    """
    problems = []
    by_place: dict[tuple[str, int, str], list[Tree]] = defaultdict(list)
    for row in rows:
        where = f"ledger.jsonl: {row['tenant']}: entry {row['sequence']}"
        body = json.loads(row["body"])
        if (
            hashlib.sha256(f"fairclock.ledger/1\n{row['previous']}\n{row['body']}".encode()).hexdigest()
            != row["hash"]
        ):
            problems.append(f"{where}: its bytes do not give its hash")
        if (row["tenant"], row["sequence"]) != (body["tenant"], body["sequence"]):
            problems.append(f"{where}: its line says otherwise than its bytes")
        charges = [charge for item in body["items"] for charge in item["charges"]]
        posted = sum((Fraction(amount) for _, amount in body["postings"]), ZERO)
        owed = sum(
            (Fraction(amount) for account, amount in body["postings"] if account == "receivable"), ZERO
        )
        if posted or owed != sum((Fraction(each["amount"]) for each in charges), ZERO):
            problems.append(f"{where}: its postings do not balance, or are not its charges")
        by_place[row["tenant"], row["sequence"], row["previous"]].append({**row, "body": body})
    held: list[Tree] = []
    heads: dict[str, tuple[int, str]] = {}
    for tenant in sorted({row["tenant"] for row in rows}):
        place = (tenant, 1, "0" * 64)
        while place in by_place:
            first = min(by_place[place], key=lambda each: (instant(each["stored_at"]), each["hash"]))
            held.append(first)
            heads[tenant] = (first["sequence"], first["hash"])
            place = (tenant, first["sequence"] + 1, first["hash"])
        longest = max(row["sequence"] for row in rows if row["tenant"] == tenant)
        if heads.get(tenant, (0, ""))[0] != longest:
            problems.append(
                f"ledger.jsonl: {tenant}: its chain breaks after entry {heads.get(tenant, (0, ''))[0]} of {longest}"
            )
    for tenant, sequence, name in ends:
        if heads.get(tenant) != (sequence, name):
            problems.append(
                f"ledger.jsonl: {tenant}: its chain does not end with entry {sequence}, as is noted"
            )
    return held, problems


class Sums:
    """What entries come to for one combination of what is asked."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.requests = self.prompt_tokens = self.completion_tokens = self.gpu = 0
        self.amount = self.probes = self.invalid = self.retried = self.adjusted = ZERO

    def add(self, usage: Tree | None, amount: Fraction) -> None:
        """Add an item."""
        self.amount += amount
        if usage is None:
            self.adjusted += amount
            return
        self.requests += usage["requests"]
        self.prompt_tokens += usage["uncached_prompt_tokens"] + usage["cached_prompt_tokens"]
        self.completion_tokens += usage["completion_tokens"]
        self.gpu += usage["gpu_picoseconds"]
        kinds = {
            "probe": "probes",
            "retried": "retried",
            "aborted": "invalid",
            "incomplete": "invalid",
            "refused": "invalid",
        }
        name = kinds.get(usage["treatment"])
        if name is not None:
            setattr(self, name, getattr(self, name) + amount)

    @property
    def tokens(self) -> int:
        """Return all tokens."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def is_something(self) -> bool:
        """Tell what holds from what was taken back."""
        parts = (self.amount, self.probes, self.invalid, self.retried, self.adjusted)
        return any((self.requests, self.prompt_tokens, self.completion_tokens, self.gpu)) or any(parts)


class Charged:
    """What the ledger says of a contract's tenants and a span of time."""

    def __init__(
        self, money: Money, entries: list[Tree], deducted: list[Tree], taxes: dict[str, Fraction]
    ) -> None:
        """Take the entries in the contract's currency; `deducted` are the credits that went off the month's statement."""
        self.money, self.entries, self.deducted, self.taxes = money, entries, deducted, taxes

    def tax(self, entry: Tree) -> Fraction:
        """Return the rate of an entry's tax: of its price version, of several the first."""
        return self.taxes.get(entry["price_version"].partition(",")[0], ZERO)

    def amount(self, entry: Tree) -> Fraction:
        """Return what is owed by an entry."""
        return sum((Fraction(each["amount"]) for item in entry["items"] for each in item["charges"]), ZERO)

    def fees(self) -> dict[tuple[str, str, str, Fraction], Fraction]:
        """Return what is owed before tax by tenant, model, inference mode and rate of tax."""
        found: dict[tuple[str, str, str, Fraction], Fraction] = defaultdict(lambda: ZERO)
        for entry in self.entries:
            rate = self.tax(entry)
            for item in entry["items"]:
                usage = item["usage"] or {}
                key = (entry["tenant"], usage.get("model", ""), usage.get("inference_mode", ""), rate)
                found[key] += sum((Fraction(each["amount"]) for each in item["charges"]), ZERO)
        return dict(found)

    def table(self, *by: str) -> list[tuple[tuple[str, ...], Sums]]:
        """Return the sums of the entries by what is asked, sorted by it."""
        found: dict[tuple[str, ...], Sums] = defaultdict(Sums)
        for entry in self.entries:
            for item in entry["items"]:
                usage = item["usage"]
                values = {"treatment": entry["subject"], **(usage or {}), "tenant": entry["tenant"]}
                key = tuple(str(values.get(name, "")) for name in by)
                found[key].add(usage, sum((Fraction(each["amount"]) for each in item["charges"]), ZERO))
        return [(key, sums) for key, sums in sorted(found.items()) if sums.is_something]


def charged_in(
    held: Sequence[Tree], prices: dict[str, Tree], tenants: set[str], span: Span, label: str
) -> Charged | None:
    """Return what was charged for a span of time; None where nothing was rated."""
    bodies = [row["body"] for row in held if row["tenant"] in tenants]
    rated = [
        each
        for each in bodies
        if each["kind"] not in ("credit", "close") and span[0] <= instant(each["from"]) < span[1]
    ]
    used = [each for each in rated if each["price_version"].rpartition(",")[2] in prices]
    if not used:
        return None
    money = Money(prices[used[0]["price_version"].rpartition(",")[2]])
    taxes = {sha256: percent(each["version"]["tax"]["rate"]) for sha256, each in prices.items()}
    own = [each for each in bodies if each["currency"] == money.code]
    deducted = [each for each in own if each["kind"] == "credit" and each["period"] == label]
    return Charged(money, [each for each in rated if each["currency"] == money.code], deducted, taxes)


def fixed(value: Fraction | None, places: int = 6) -> str | None:
    """Write an amount with a number of decimals, half to even; None stays None."""
    return None if value is None else f"{Decimal(round(value * 10**places)).scaleb(-places):f}"


def per(amount: Fraction, count: int) -> Fraction | None:
    """Return what 1,000 cost; None where there were none."""
    return amount * 1000 / count if count else None


def cost_section(charged: Charged | None) -> Tree | None:
    """Return what was charged, by model, length class, mode and treatment; the lines sum to the net amount."""
    if charged is None:
        return None
    by = ("model", "length_class", "inference_mode", "treatment")
    table = charged.table(*by)
    nets = charged.money.apportioned([sums.amount for _, sums in table])
    whole = dict(charged.table()).get(())
    return {
        "currency": charged.money.code,
        "net": charged.money.text(sum((sums.amount for _, sums in table), ZERO)),
        "lines": [
            {
                **dict(zip(by, key)),
                "requests": sums.requests,
                "prompt_tokens": sums.prompt_tokens,
                "completion_tokens": sums.completion_tokens,
                "per_1000_requests": fixed(per(sums.amount, sums.requests)),
                "per_1000_tokens": fixed(per(sums.amount, sums.tokens)),
                "net": charged.money.text(net),
            }
            for (key, sums), net in zip(table, nets)
        ],
        "per_1000_requests": None if whole is None else fixed(per(whole.amount, whole.requests)),
        "tokens": None
        if whole is None
        else {
            "count": whole.tokens,
            "per_1000": fixed(per(whole.amount, whole.tokens)),
            "per_unit": fixed(whole.tokens / whole.amount if whole.amount > 0 else None, 0),
        },
        "of_it": None
        if whole is None
        else {name: fixed(getattr(whole, name)) for name in ("probes", "invalid", "retried", "adjusted")},
    }


def amounts_section(charged: Charged | None, credits_: Sequence[Tree]) -> Tree | None:
    """Return net, tax and gross, and what credits come to by their state."""
    if charged is None:
        return None
    money = charged.money
    by_rate: dict[Fraction, Fraction] = defaultdict(lambda: ZERO)
    for entry in charged.entries:
        by_rate[charged.tax(entry)] += charged.amount(entry)
    rates = sorted(by_rate)
    nets = money.apportioned([by_rate[rate] for rate in rates])
    net = sum(nets, ZERO)
    tax = sum((money.exact(money.units(part * rate)) for part, rate in zip(nets, rates)), ZERO)

    def credited(*states: str) -> str:
        return money.text(
            sum((Fraction(each["amount"]) for each in credits_ if each["state"] in states), ZERO)
        )

    return {
        "currency": money.code,
        "net": money.text(net),
        "tax": money.text(tax),
        "gross": money.text(net + tax),
        "credits_granted": credited("granted"),
        "credits_claimed": credited("claimed"),
        "credits_claimable": credited("computed", "claimable"),
    }


LENGTHS = (("short", 0, 511), ("medium", 512, 2048), ("long", 2049, 16000), ("long_context", 16001, None))


def cost_rows(reading: Reading, charged: Charged | None) -> dict[int, Tree]:
    """Return the verdicts on promises about cost; those that the ledger cannot tell are left out.

    All that was charged for the calls that a promise looks at is divided by those that were answered.
    """
    rows = {}
    for number, objective in enumerate(reading.version.objectives):
        said, where = objective.said, objective.where
        if (
            objective.kind != "cost"
            or charged is None
            or said["currency"] != charged.money.code
            or objective.during is not None
        ):
            continue
        if {"routes", "regions", "completion_tokens", "stream"} & set(where):
            continue  # finer than the ledger
        classes: set[str] | None = {"", *(name for name, _, _ in LENGTHS)}
        if "prompt_tokens" in where:
            low, high = token_range(where["prompt_tokens"])
            classes = set()
            for name, first, last in LENGTHS:
                if first >= low and (high is None or (last is not None and last <= high)):
                    classes.add(name)
                elif (last is None or last >= low) and (high is None or first <= high):
                    classes = None  # the range cuts a class
                    break
        if classes is None:
            continue
        meant = [
            each
            for each in charged.table("model", "length_class", "inference_mode", "treatment")
            if is_meant(reading.version, where, classes, *each)
        ]
        answered = [sums for key, sums in meant if key[3] == "completed"]
        requests, tokens = sum(each.requests for each in answered), sum(each.tokens for each in answered)
        amount = sum((sums.amount for _, sums in meant), ZERO)
        units = {
            "call": Fraction(requests),
            "thousand_tokens": Fraction(tokens, 1000),
            "million_tokens": Fraction(tokens, 10**6),
        }[said["per"]]
        insufficient = reading.version.clauses["insufficient"]
        found = Judged(Promise(number, objective, None), Tally())
        kept = amount <= Fraction(said["at_most"]) * units
        found.verdict, found.reason = by_volume(
            requests, insufficient["below"], insufficient["verdict"], kept=kept
        )
        under_floor(found, reading.month, needs_engine=False)
        rows[number] = {
            **NO_COST,
            "unit": "requests",
            "n": requests,
            "requests": requests,
            "carried": 0,
            "value": float(amount / units) if units else None,
            "verdict": found.verdict,
            "verdict_without_exclusions": found.verdict,
            "reason": None if found.reason == "counted" else found.reason,
        }
    return rows


def is_meant(version: Version, where: Tree, classes: set[str], key: tuple[str, ...], sums: Sums) -> bool:
    """Tell whether a line of the ledger is about calls that a promise looks at."""
    model, length_class, mode, treatment = key
    scope = version.clauses["scope"]["models"]
    if treatment == "probe":
        return False
    if (
        not model and not length_class and not mode and not sums.requests
    ):  # for no call in particular: a minimum, a tier
        return not where and not scope
    if (
        (scope and model and model not in scope)
        or model not in where.get("models", [model])
        or mode not in where.get("inference_mode", [mode])
    ):
        return False
    return length_class in classes


# ---------------------------------------------------------------- 13. credits


class Basis:
    """What a credit is a share of, by tenant and rate of tax: what was paid with tax, or the fees before it."""

    def __init__(
        self,
        parts: dict[tuple[str, Fraction], Fraction],
        fees_of: Sequence[str],
        net_of: Sequence[str],
        model: str | None,
    ) -> None:
        """Take it."""
        self.parts, self.fees_of, self.net_of, self.model = parts, list(fees_of), list(net_of), model
        self.amount = max(ZERO, sum(parts.values(), ZERO))

    def dealt(self, amount: Fraction) -> dict[tuple[str, Fraction], Fraction]:
        """Return whose an amount is; a tenant whose part is below nothing takes nothing from the others."""
        by_tenant: dict[str, Fraction] = defaultdict(lambda: ZERO)
        for (tenant, _), part in self.parts.items():
            by_tenant[tenant] += part
        takers = {key: part for key, part in self.parts.items() if by_tenant[key[0]] > 0}
        among = sum(takers.values(), ZERO)
        return {key: amount * part / among for key, part in takers.items()}


class Due:
    """One credit before it is rounded; `parts` of it are the tenants', by rate of tax."""

    def __init__(self, objective: str, part: str, tier: str, rate: Fraction, basis: Basis) -> None:
        """Take a share of a basis."""
        self.objective, self.part, self.tier, self.basis = objective, part, tier, basis
        self.exact = basis.amount * rate
        self.parts = basis.dealt(self.exact)
        self.left_out: list[str] = []

    def scale(self, factor: Fraction) -> None:
        """Make it larger or smaller."""
        self.exact *= factor
        self.parts = {key: part * factor for key, part in self.parts.items()}


Paid = dict[tuple[str, Fraction], tuple[Fraction, Fraction]]
"""What is paid to a tenant at a rate of tax: the net and the tax on it."""


def with_tax(version: Version) -> bool:
    """Tell whether a credit is a share of what was paid, with tax."""
    return "tax" not in (version.clauses["credits"].get("base") or {}).get("net_of", ())


def basis_of(version: Version, charged: Charged, model: str | None, modes: set[str] | None = None) -> Basis:
    """Return the fees that a credit for a model (None: the contract's) is a share of.

    Where tax is not taken off, it is what a statement of these fees would come to: the net rounded once for a tenant, and the tax
    of each rate of the rounded net.
    """
    clause = version.clauses["credits"].get("base") or {}
    fees_of, net_of = clause.get("fees_of") or ["service"], clause.get("net_of", [])
    wanted: Sequence[str] = ()
    if "service" not in fees_of and "model" in fees_of:
        wanted = [model] if model is not None else version.clauses["scope"]["models"]
    parts: dict[tuple[str, Fraction], Fraction] = defaultdict(lambda: ZERO)
    for (tenant, of_model, mode, rate), amount in charged.fees().items():
        if (not wanted or of_model in wanted) and (modes is None or mode in modes):
            parts[tenant, rate] += amount
    money = charged.money
    if with_tax(version):
        for whose in {tenant for tenant, _ in parts}:
            keys = sorted(key for key in parts if key[0] == whose)
            for key, net in zip(keys, money.apportioned([parts[key] for key in keys])):
                parts[key] = net + money.exact(money.units(net * key[1]))
    if "earlier_credits" in net_of:
        for entry in charged.deducted:
            said = entry["facts"]
            key = (entry["tenant"], percent(said.get("tax_rate", "0%")))
            parts[key] += charged.amount(entry)  # below nothing: it was taken off
            parts[key] -= Fraction(said.get("tax", "0")) if with_tax(version) else ZERO
    return Basis(dict(parts), fees_of, net_of, model if wanted else None)


def dues_of(reading: Reading, costs: dict[int, Tree], charged: Charged | None) -> list[tuple[Due, Paid]]:
    """Return the credits of a version's month, each with what is paid to whom."""
    version = reading.version
    clause = version.clauses.get("credits")
    if clause is None or charged is None:
        return []
    dues = tier_dues(reading, costs, charged, clause)
    for level in version.clauses.get("quality", {}).get("levels", []):
        if "credit" in level:
            rate = percent(level["credit"])
            basis = basis_of(version, charged, None, set(level["modes"]))
            dues.append(
                Due(f"quality:{level['name']}", "", f"{level['name']} {percent_text(rate)}", rate, basis)
            )
    dues += failure_dues(reading, charged, clause)
    dues = [each for each in dues if each.exact > 0]
    whole = basis_of(version, charged, None).amount
    total = sum((each.exact for each in dues), ZERO)
    least = min(Fraction(clause["minimum"]), whole) if "minimum" in clause else ZERO
    if total and total < least:
        for each in dues:
            each.scale(least / total)
        total = least
    if "cap" in clause and total > percent(clause["cap"]) * whole:
        for each in dues:
            each.scale(percent(clause["cap"]) * whole / total)
    money, found = charged.money, []
    for due, amount in zip(dues, money.apportioned([each.exact for each in dues])):
        keys = sorted(due.parts)
        rounded = money.apportioned([due.parts[key] for key in keys], money.units(amount))
        paid = {
            key: split(money, part, key[1], has_tax=with_tax(version))
            for key, part in zip(keys, rounded)
            if part
        }
        if paid:
            found.append((due, paid))
    return found


def split(money: Money, amount: Fraction, rate: Fraction, *, has_tax: bool) -> tuple[Fraction, Fraction]:
    """Return the net and the tax of an amount that is paid.

    With tax in it, its net is what makes it with the tax that a statement prints: the rounded one or, where only that does
    because tax is rounded down, one unit more. Without, the tax comes on top.
    """

    def tax_of(net: Fraction) -> Fraction:
        return money.exact(money.units(net * rate))

    if not has_tax:
        return amount, tax_of(amount)
    net = money.exact(money.units(amount / (1 + rate)))
    more = net + money.exact(1)
    if more + tax_of(more) == amount:
        net = more
    return net, amount - net


def tier_dues(reading: Reading, costs: dict[int, Tree], charged: Charged, clause: Tree) -> list[Due]:
    """Return the credits by tiers; of what has one cause the highest stays, where the contract says so."""
    version = reading.version
    causes = causes_of(reading) if clause.get("same_cause") == "highest_only" else {}
    outcomes: list[tuple[str, str, Fraction | None, Fraction | None, str, str | None, Any]] = []
    for judged in reading.judged:
        objective, part = judged.promise.objective, judged.promise.part or {}
        is_ratio = objective.kind == "availability"
        words = " ".join(value for value in (part.get("model"), part.get("region")) if value)
        outcomes.append(
            (
                objective.name, judged.verdict, judged.ratio if is_ratio else None, objective.target if is_ratio else None, words,
                part.get("model"), causes.get(judged.promise.key),
            )
        )  # fmt: skip
    outcomes += [
        (version.objectives[number].name, row["verdict"], None, None, "", None, None)
        for number, row in costs.items()
    ]
    groups: dict[Any, list[Due]] = {}
    for number, (name, verdict, reached, target, words, model, cause) in enumerate(outcomes):
        tiers = []
        for tier in clause.get("tiers", []):
            below = percent(tier["below"]) if tier.get("below") is not None else None
            if below is None:
                is_reached = verdict == "violated"
            else:
                by_ratio = reached is not None and reached < below and verdict in ("violated", "met")
                is_reached = by_ratio or (verdict == "violated" and target is not None and below >= target)
            if tier["objective"] == name and is_reached:
                condition = "violated" if below is None else f"below {percent_text(below)}"
                tiers.append(
                    (percent(tier["credit"]), f"{condition}: {percent_text(percent(tier['credit']))}")
                )
        tiers.sort(key=lambda each: each[0])
        paid = tiers if clause.get("tier") == "sum" else tiers[-1:]
        if paid:
            rate = sum((credit for credit, _ in paid), ZERO)
            due = Due(
                name, words, " + ".join(text for _, text in paid), rate, basis_of(version, charged, model)
            )
            groups.setdefault((cause, words) if cause is not None else number, []).append(due)
    kept = []
    for dues in groups.values():
        highest = max(dues, key=lambda each: each.exact)
        highest.left_out = [each.objective for each in dues if each is not highest]
        kept.append(highest)
    return kept


def causes_of(reading: Reading) -> dict[Any, Any]:
    """Return a name for the cause of each broken promise: the same requests broke those that share one.

    Two share it where one would have been kept without the requests that count against both; availabilities by time share
    theirs with every other availability of the same part.
    """
    broken = [each for each in reading.judged if each.verdict == "violated"]
    leader = {each.promise.key: each.promise.key for each in broken}

    def kept_without(judged: Judged, both: int) -> bool:
        objective, counted, over = judged.promise.objective, judged.counted - both, judged.over - both
        if objective.kind == "latency":
            return 100 * over <= (100 - objective.percentile) * counted
        return counted - over >= objective.target * counted

    for one, other in combinations(broken, 2):
        if one.promise.part != other.promise.part:
            continue
        if one.unit == other.unit == "requests":
            sets = [
                set(against(reading.month, each.promise, reading.excluded, with_refused=False))
                for each in (one, other)
            ]
            both = len(sets[0] & sets[1])
            is_shared = both > 0 and (kept_without(one, both) or kept_without(other, both))
        else:
            is_shared = one.promise.objective.kind == other.promise.objective.kind == "availability"
        if is_shared:
            first, second = leader[one.promise.key], leader[other.promise.key]
            leader = {key: first if found == second else found for key, found in leader.items()}
    return leader


def failure_dues(reading: Reading, charged: Charged, clause: Tree) -> list[Due]:
    """Return the compensation for single requests: so many times what the tenant's answered calls of the model cost on average."""
    said = clause.get("per_failure")
    if said is None:
        return []
    month = reading.month
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for j, ending in enumerate(month.endings):
        if ending in said["outcomes"]:
            counts[month.rows["tenant"][j], month.rows["model"][j]] += 1
    prices = {}
    for (tenant, model, treatment), sums in charged.table("tenant", "model", "treatment"):
        if treatment == "completed" and sums.requests:
            prices[tenant, model] = sums.amount / sums.requests
    by_tenant: dict[str, Fraction] = defaultdict(lambda: ZERO)
    for (tenant, model), count in sorted(counts.items()):
        highest = max((price for (whose, _), price in prices.items() if whose == tenant), default=ZERO)
        by_tenant[tenant] += count * prices.get((tenant, model), highest)
    has_tax = with_tax(reading.version)
    parts = {}
    for tenant, cost in by_tenant.items():
        # taxed as all that the tenant is charged is
        taxed: dict[Fraction, Fraction] = defaultdict(lambda: ZERO)
        for (whose, _, _, rate), amount in charged.fees().items():
            taxed[rate] += amount if whose == tenant else ZERO
        weights = {rate: amount for rate, amount in taxed.items() if amount > 0} or {ZERO: Fraction(1)}
        for rate, weight in weights.items():
            net = cost * weight / sum(weights.values(), ZERO)
            parts[tenant, rate] = net * (1 + rate) if has_tax else net
    basis = Basis(parts, ["call"], [] if has_tax else ["tax"], None)
    tier = f"{sum(counts.values())} x {said['times_charge']}"
    return [Due("per_failure", "", tier, Fraction(said["times_charge"]), basis)]


def credit_rows(
    whole: Whole, label: str, computed: Sequence[tuple[Reading, Charged, Any]], entries: Sequence[Tree]
) -> list[Tree]:
    """Return every credit as it was computed now, with what was said of it."""
    fresh = {}
    for reading, charged, (due, paid) in computed:
        row = computed_credit(reading.version, label, charged, due, paid)
        fresh[row["id"]] = row
    said = standing_credits(entries)
    fresh.update({each["id"]: each for each in further_credits(whole, fresh, said)})
    rows = []
    for id_ in sorted({*fresh, *(key for key, (_, answer) in said.items() if answer is not None)}):
        entry, (known, answer) = fresh.get(id_), said.get(id_, (None, None))
        shown: Tree = (answer or known or {}) if answer is not None or entry is None else entry
        state = answer["state"] if answer is not None else credit_state(shown, whole.as_of)
        revision = None
        if known is not None and (answer is not None or entry is None):
            revision = shown["revision"]
        elif (
            known is not None
            and entry is not None
            and (known["amount"], known["shares"]) == (entry["amount"], entry["shares"])
        ):
            revision = known["revision"]
        decide_by = instant_or_none(shown["decide_by"])
        rows.append(
            {
                "id": id_,
                "objective": shown["objective"],
                "part": shown["facts"]["part"] or None,
                "basis": shown["facts"]["basis"],
                "tier": shown["facts"]["tier"],
                "left_out": shown["facts"]["left_out"],
                "currency": shown["currency"],
                "amount": shown["amount"],
                "amount_with_tax": shown["facts"].get("amount_with_tax"),
                "amount_now": "0" if entry is None else entry["amount"],
                "further_to": shown["facts"].get("further_to"),
                "claimed_as": shown["facts"].get("claimed_as"),
                "shares": shown["shares"],
                "form": shown["form"],
                "state": state,
                "revision": revision,
                "claim": {
                    "required": shown["needs_claim"],
                    "opens_at": shown["opens_at"],
                    "closes_at": shown["closes_at"],
                    "last_day": shown["facts"]["last_day"],
                    "decide_by": shown["decide_by"],
                    "overdue": state == "claimed"
                    and known is not None
                    and decide_by is not None
                    and whole.as_of >= decide_by,
                },
            }
        )
    return sorted(rows, key=lambda each: (str(each["objective"]), str(each["part"]), each["id"]))


def standing_credits(entries: Sequence[Tree]) -> dict[str, tuple[Tree, Tree | None]]:
    """Return, by id, what a credit was last computed as and the last answer; of two with one sequence the first stored holds."""
    by_id: dict[str, dict[int, Tree]] = defaultdict(dict)

    def place(entry: Tree) -> tuple[Any, ...]:
        words = (entry["state"], entry["author"], entry["comment"], entry["evidence"])
        return (entry["sequence"], instant(entry["stored_at"]), *words)

    for entry in sorted(entries, key=place):
        by_id[entry["id"]].setdefault(entry["sequence"], entry)
    found = {}
    for id_, said in by_id.items():
        computed = [each for each in said.values() if each["state"] == "computed"]
        answers = [each for each in said.values() if each["state"] in ("claimed", "granted", "refused")]
        found[id_] = (computed[-1], answers[-1] if answers else None)
    return found


def credit_state(credit: Tree, now: int) -> str:
    """Return the state of a credit of which nobody has said anything."""
    closes_at = instant_or_none(credit["closes_at"])
    if now < instant(credit["opens_at"]):
        return "computed"
    return "expired" if closes_at is not None and now >= closes_at else "claimable"


Parts = dict[tuple[str, str], tuple[Fraction, Fraction]]
"""Net and tax of a credit by tenant and rate of tax in words."""


def further_credits(
    whole: Whole, fresh: dict[str, Tree], said: dict[str, tuple[Tree, Tree | None]]
) -> list[Tree]:
    """Return what a month comes to beyond credits that were granted: a difference is a credit of its own.

    What was granted is not taken back. Those differences that were granted are numbered from 1, and the one that is open follows.
    """
    found = []
    for id_, (first, answer) in said.items():
        if answer is None or answer["state"] != "granted" or "further_to" in first["facts"]:
            continue
        due = fresh.get(id_) or as_nothing(first)
        if due["currency"] != answer["currency"]:
            continue
        numbered = {
            int(known["facts"]["further_number"]): (known, said_of_it)
            for known, said_of_it in said.values()
            if known["facts"].get("further_to") == id_
        }
        granted, number = parts_of(answer), 1
        while True:
            known, said_of_it = numbered.get(number, (None, None))
            if known is None or said_of_it is None or said_of_it["state"] != "granted":
                break
            before, granted = granted, sum_of(granted, parts_of(said_of_it))
            left = beyond(due, before)
            if sum(map(Fraction, due["shares"].values()), ZERO) >= net_of(granted):
                facts = {name: each for name, each in said_of_it["facts"].items() if name != "claimed_as"}
                found.append({**said_of_it, "facts": facts})
            else:
                found.append(difference(due, left, number) if left else as_nothing(known))
            number += 1
        left = beyond(due, granted)
        if left:
            found.append(dated(whole, difference(due, left, number), known, said_of_it))
    return found


def parts_of(credit: Tree) -> Parts:
    """Return a credit's parts; one that was written down before credits said their tax has none."""
    if "taxed" not in credit["facts"]:
        return {(tenant, ""): (Fraction(share), ZERO) for tenant, share in credit["shares"].items()}
    return {
        (each["tenant"], each["tax_rate"]): (Fraction(each["net"]), Fraction(each["tax"]))
        for each in credit["facts"]["taxed"]
    }


def sum_of(one: Parts, other: Parts, sign: int = 1) -> Parts:
    """Return parts added, or with a sign of -1 taken off."""
    nothing = (ZERO, ZERO)
    pairs = {key: (one.get(key, nothing), other.get(key, nothing)) for key in (*one, *other)}
    return {key: (a[0] + sign * b[0], a[1] + sign * b[1]) for key, (a, b) in pairs.items()}


def net_of(parts: Parts) -> Fraction:
    """Return what parts come to before tax."""
    return sum((net for net, _ in parts.values()), ZERO)


def beyond(due: Tree, settled: Parts) -> Parts:
    """Return what is due beyond what is settled, of the tenants for whom it is more."""
    parts = {key: each for key, each in sum_of(parts_of(due), settled, -1).items() if any(each)}
    return {
        key: each
        for key, each in parts.items()
        if sum((net for (tenant, _), (net, _) in parts.items() if tenant == key[0]), ZERO) > 0
    }


def as_nothing(credit: Tree) -> Tree:
    """Return a credit that is no longer due."""
    facts = dict(credit["facts"])
    if "taxed" in facts:
        facts.update(taxed=[], amount_with_tax="0")
    return {**credit, "amount": "0", "shares": dict.fromkeys(credit["shares"], "0"), "facts": facts}


def amounts_of(parts: Parts) -> Tree:
    """Return the amount before tax and each tenant's share of it, as they are written."""
    shares_: dict[str, Fraction] = defaultdict(lambda: ZERO)
    for (tenant, _), (net, _) in parts.items():
        shares_[tenant] += net
    return {
        "amount": decimal_text(net_of(parts)),
        "shares": {tenant: decimal_text(share) for tenant, share in shares_.items()},
    }


def taxed_facts(parts: Parts) -> Tree:
    """Return the facts of a credit that say its tax."""
    return {
        "amount_with_tax": decimal_text(sum((net + tax for net, tax in parts.values()), ZERO)),
        "taxed": [
            {"tenant": tenant, "tax_rate": rate, "net": decimal_text(net), "tax": decimal_text(tax)}
            for (tenant, rate), (net, tax) in parts.items()
        ],
    }


def difference(due: Tree, parts: Parts, number: int) -> Tree:
    """Return a further credit, as it would be written down."""
    named = f"{due['id']}\0further\0{number}"
    facts = {**due["facts"], "further_to": due["id"], "further_number": number}
    if "taxed" in facts:
        facts.update(taxed_facts(parts))
    return {**due, "id": credit_id(named), **amounts_of(parts), "facts": facts}


def dated(whole: Whole, credit: Tree, known: Tree | None, answer: Tree | None) -> Tree:
    """Return a further credit with its dates: those that it has, unless it comes to more; else the first's, or, where those are over, from now on."""
    version = whole.latest
    dates: tuple[Any, ...] | None = None
    if known is not None and (answer is not None or Fraction(credit["amount"]) <= Fraction(known["amount"])):
        last_day = known["facts"].get("last_day", credit["facts"].get("last_day"))
        dates = (known["opens_at"], known["closes_at"], last_day)
    elif credit["closes_at"] is not None and whole.as_of >= instant(credit["closes_at"]):
        _, *ends = claim_dates(version, local_day(whole.as_of, version.zone))
        dates = (written(whole.as_of), *ends)
    if dates is None:
        return credit
    opens_at, closes_at, last_day = dates
    facts = {**credit["facts"], "last_day": last_day}
    return {**credit, "opens_at": opens_at, "closes_at": closes_at, "facts": facts}


def credit_id(named: str) -> str:
    """Return the id of what is named so."""
    return f"cr-{hashlib.sha256(named.encode()).hexdigest()[:16]}"


def claim_dates(version: Version, last: date) -> tuple[str | None, str | None, str | None]:
    """Return when what is counted from a day can be claimed: from, until, and the last day of it."""
    claim = (version.clauses.get("credits") or {}).get("claim")
    opens, closes = last + DAY, None
    if claim is not None and "opens" in claim:
        opens = (
            day_after(version, last, claim["opens"])
            or day_after(version, last, claim["opens"], known=False)
            or opens
        )
    if claim is not None and "closes" in claim:
        closes = day_after(version, last, claim["closes"])
    opens_at = written(local_instant(opens, 0, version.zone))
    if closes is None:
        return opens_at, None, None
    return opens_at, written(local_instant(closes + DAY, 0, version.zone)), closes.isoformat()


def computed_credit(version: Version, label: str, charged: Charged, due: Due, paid: Paid) -> Tree:
    """Return a credit as it would be written down."""
    clause = version.clauses["credits"]
    claim = clause.get("claim")
    opens_at, closes_at, last_day = claim_dates(version, version.days_of(label)[1] - DAY)
    since = "" if version.in_force is None else str(written(version.in_force[0]))
    parts = {(tenant, percent_text(rate)): each for (tenant, rate), each in paid.items()}
    return {
        "id": credit_id("\0".join((version.clauses["id"], label, due.objective, due.part, since))),
        "objective": due.objective,
        "currency": charged.money.code,
        **amounts_of(parts),
        "opens_at": opens_at,
        "closes_at": closes_at,
        "decide_by": None,
        "needs_claim": claim is None or claim["required"],
        "form": clause.get("form") or "deduct_next",
        "facts": {
            "part": due.part,
            "tier": due.tier,
            "basis": {
                "fees_of": due.basis.fees_of,
                "net_of": due.basis.net_of,
                "model": due.basis.model,
                "amount": decimal_text(due.basis.amount),
            },
            **taxed_facts(parts),
            "left_out": due.left_out,
            "last_day": last_day,
        },
    }


def day_after(version: Version, month_end: date, clause: str, *, known: bool = True) -> date | None:
    """Return the day that a clause such as ``5 workdays after month end`` names; None where the year's holidays are not known."""
    number, unit = re.fullmatch(r"([0-9]+) (workday|day|week|month)s? after month end", clause).groups()  # type: ignore[union-attr]
    if unit in ("day", "week"):
        return month_end + int(number) * (7 if unit == "week" else 1) * DAY
    if unit == "month":
        months = month_end.year * 12 + month_end.month - 1 + int(number)
        first = date(months // 12, months % 12 + 1, 1)
        last = (first.replace(day=28) + 4 * DAY).replace(day=1) - DAY
        is_last = (month_end + DAY).day == 1
        return last if is_last or month_end.day > last.day else first.replace(day=month_end.day)
    day, left = month_end, int(number)
    while left:
        day += DAY
        if not version.years or not known:
            left -= day.weekday() < 5
        elif "worked" not in version.years.get(str(day.year), {}):
            return None
        else:
            left -= version.is_workday(day)
    return day


# ---------------------------------------------------------------- 14. evidence, revisions

NUMBERS = (
    "received_us", "k", "status", "stream", "attempts", "end_to_end_us", "connected_us", "queue_us", "prefill_us", "decode_us",
    "frontend_us", "time_to_first_token_us", "prompt_tokens", "cached_tokens", "completion_tokens", "decode_tokens", "simulated",
)  # fmt: skip
TEXTS = ("tenant", "model", "route", "region", "outcome", "error_code", "inference_mode", "engine")


def hours_of(whole: Whole, window: Span | None = None) -> dict[str, tuple[int, str]]:
    """Return how many requests each hour has, and their hash: each is a line, the lines are sorted."""
    hours: dict[int, list[bytes]] = defaultdict(list)
    for reading in whole.readings:
        rows = reading.month.rows
        for j, at in enumerate(reading.month.at):
            if window is not None and not window[0] <= at < window[1]:
                continue
            fields = [
                rows["id"][j],
                *("\\N" if rows[name][j] is None else str(rows[name][j]) for name in NUMBERS),
            ]
            fields += [
                rows[name][j].replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
                for name in TEXTS
            ]
            hours[at // HOUR_US].append("\t".join(fields).encode())
    return {
        (EPOCH + hour * HOUR_US * MICROSECOND).strftime("%Y-%m-%dT%H:%M:%SZ"): (
            len(lines),
            hashlib.sha256(b"\n".join(sorted(lines))).hexdigest(),
        )
        for hour, lines in sorted(hours.items())
    }


def rows_sha256(whole: Whole) -> str:
    """Return the hash over all requests: of each hour's number and hash, in time order."""
    text = "".join(f"{hour}\t{count}\t{sha256}\n" for hour, (count, sha256) in hours_of(whole).items())
    return hashlib.sha256(text.encode()).hexdigest()


def figures_of(report: Tree) -> Tree:
    """Return the figures by which two revisions of a report are told apart."""
    granted: Tree = {}
    for each in report["exclusions"]:
        time_ = each["cap"]["granted_seconds"] or 0
        if time_:
            granted.setdefault(each["id"], {"clause": each["clause"], "granted_seconds": 0})[
                "granted_seconds"
            ] += time_
    cost, amounts, money = report["cost"], report["amounts"], {}
    if cost is not None:
        money = {
            "cost.net": f"{cost['net']} {cost['currency']}",
            "cost.per_1000_requests": cost["per_1000_requests"],
            "cost.per_1000_tokens": (cost["tokens"] or {}).get("per_1000"),
        }
    if amounts is not None:
        money.update(
            {
                f"amounts.{name}": amounts[name]
                for name in ("net", "tax", "gross", "credits_granted", "credits_claimed")
            }
        )
    money.update(
        {
            f"credit.{each['id']}": {name: each[name] for name in ("id", "objective", "amount")}
            for each in report["credits"]
        }
    )
    return {
        "admitted": report["traffic"]["admitted"],
        "coverage": report["coverage"],
        "rows_sha256": report["evidence"]["rows_sha256"],
        "versions": report["contract"]["versions"],
        "objectives": [
            {
                name: each[name]
                for name in (
                    "name",
                    "part",
                    "n",
                    "violations",
                    "value",
                    "verdict",
                    "verdict_without_exclusions",
                )
            }
            for each in report["objectives"]
        ],
        "exclusions": granted,
        "money": money,
    }


def digest_of(figures: Tree) -> str:
    """Return the hash of figures."""
    return hashlib.sha256(
        json.dumps(figures, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()


def revision_of(report: Tree, known: Sequence[Tree]) -> Tree:
    """Return which revision a report is, which came before, and what has changed since."""
    figures = figures_of(report)
    is_kept = bool(known) and known[-1]["digest"] == digest_of(figures)
    earlier = list(known[:-1] if is_kept else known)
    if not earlier:
        return {"revision": 1, "previous_revision": None, "changes": []}
    previous = earlier[-1]
    return {
        "revision": len(earlier) + 1,
        "previous_revision": {"revision": previous["revision"], "as_of": previous["as_of"]},
        "changes": list(changes_between(json.loads(previous["figures"]), figures)),
    }


def changes_between(old: Tree, new: Tree) -> Iterable[Tree]:
    """Yield what differs between two revisions, figure by figure."""

    def change(what: str, before: Any, after: Any, objective: str | None = None, part: Any = None) -> Tree:
        return {"objective": objective, "part": part, "what": what, "before": before, "after": after}

    def keyed(rows: Sequence[Tree]) -> dict[tuple[str, str, int], Tree]:
        found: dict[tuple[str, str, int], Tree] = {}
        for row in rows:
            name, part, number = row["name"], str(sorted((row["part"] or {}).items())), 0
            while (name, part, number) in found:
                number += 1
            found[name, part, number] = row
        return found

    pairs = [("admitted", old["admitted"], new["admitted"])]
    names = sorted({*old["coverage"], *new["coverage"]})
    pairs += [(f"coverage.{name}", old["coverage"].get(name), new["coverage"].get(name)) for name in names]
    pairs += [(name, old[name], new[name]) for name in ("rows_sha256", "versions")]
    yield from (change(what, before, after) for what, before, after in pairs if before != after)
    before, after = keyed(old["objectives"]), keyed(new["objectives"])
    for key in [*after, *(each for each in before if each not in after)]:
        one, other = before.get(key), after.get(key)
        said = other or one or {}
        for what in ("n", "violations", "value", "verdict", "verdict_without_exclusions"):
            values = [None if each is None else each[what] for each in (one, other)]
            if values[0] != values[1]:
                yield change(what, values[0], values[1], said["name"], said["part"])
    for id_ in sorted({*old["exclusions"], *new["exclusions"]}):
        both = [
            None if each is None else {"id": id_, **each}
            for each in (old["exclusions"].get(id_), new["exclusions"].get(id_))
        ]
        if both[0] != both[1]:
            yield change("exclusion", both[0], both[1])
    if "money" in old:
        for name in sorted({*old["money"], *new["money"]}):
            one, other = old["money"].get(name), new["money"].get(name)
            if one != other and name.startswith("credit."):
                yield change("credit", one, other, str((other or one or {})["objective"]))
            elif one != other:
                yield change(name, one, other)


def not_evaluated(
    readings: Sequence[Reading], costs: Sequence[dict[int, Tree]], *, is_rated: bool
) -> list[str]:
    """Return the paths of the clauses that no verdict rests on."""
    found: list[str] = []
    for reading, by_number in zip(readings, costs):
        clauses = reading.version.clauses
        paths = [] if clauses["retries"] == "all" else ["retries.with_backoff"]
        paths += [
            f"objectives[{n}]"
            for n, each in enumerate(reading.version.objectives)
            if each.kind == "cost" and n not in by_number
        ]
        if not is_rated:
            levels = clauses.get("quality", {}).get("levels", [])
            paths += [f"quality.levels[{n}].credit" for n, level in enumerate(levels) if "credit" in level]
            paths += [name for name in ("credits", "prices") if name in clauses]
        paths += ["signatures"] if "signatures" in clauses else []
        found += paths
    return list(dict.fromkeys(found))


# ---------------------------------------------------------------- 15. how well it was measured

SOURCES = ("client", "gateway", "span", "plugin", "truth")  # who may see a probe, from the outermost inwards
NESTED = (  # whose part of a request lies within whose
    ("gateway", "client"),
    *((inner, outer) for outer in ("gateway", "client") for inner in ("span", "plugin", "truth")),
)
OF_ENGINE = (("plugin", "truth"), ("span", "truth"), ("span", "plugin"))
COMPARED = (  # clock, of, against, what the difference may be (us), of what share of the probes it may be more
    ("end_to_end", "gateway", "client", 5_000, 0.5),
    ("time_to_first_token", "gateway", "client", None, None),
    *(
        (clock, source, against, 1_000 if clock in ("queue", "prefill", "decode") else None, 0.0)
        for source, against in OF_ENGINE
        for clock in ("queue", "prefill", "decode", "time_to_first_token", "end_to_end")
    ),
)
RESOLUTION_US = 2_000  # what a log's milliseconds can hide of a beginning and of an end
PASSED_OVER = (
    20  # of the narrowest bounds of two clocks one in so many is passed over: stamps of busy hosts come late
)


def measurement_section(whole: Whole, probes: Sequence[Tree], told: Sequence[Tree]) -> Tree | None:
    """Return what probes say of the measurement: who saw them, how sources differ, how their clocks stand."""
    concerned = {
        each["id"]: each
        for each in probes
        if whole.elapsed[0] <= instant(each["intended_at"]) < whole.elapsed[1]
        and any(concerns(each, reading.version) for reading in whole.readings)
    }
    if not concerned:
        return None
    ordered = sorted(concerned.values(), key=lambda each: (instant(each["intended_at"]), each["id"]))
    sent = [each for each in ordered if each["sent_at"] is not None]
    seen = {each["id"]: {one["source"]: one for one in each["seen"]} for each in told}
    found = [(each, seen[each["id"]]) for each in ordered if each["id"] in seen]
    late = sorted(max(0, instant(each["sent_at"]) - instant(each["intended_at"])) for each in sent)
    answered = sum(each["outcome"] == "ok" for each in sent)
    return {
        "probes": {
            "sent": len(sent),
            "answered": answered,
            "failed": len(sent) - answered,
            "reconciled": len(found),
        },
        "lateness": {name: at(late, p) for name, p in (("p50", 50), ("p99", 99), ("max", 100))}
        if late
        else None,
        "sources": [source_row(source, found) for source in SOURCES] if found else [],
        "differences": [row for compared in COMPARED for row in difference_rows(compared, found)],
        "clocks": [row for pair in NESTED for row in clock_rows(pair, found)],
        "answers": answer_rows(ordered),
    }


def answer_rows(probes: Sequence[Tree]) -> list[Tree]:
    """Return what answers to fixed questions were worth, a row an inference mode."""
    judged = [each for each in probes if each["invalid_output"] is not None]
    return [
        {
            "inference_mode": mode,
            "answers": sum(each["inference_mode"] == mode for each in judged),
            **{
                name: mean_ratio([each[key] for each in judged if each["inference_mode"] == mode])
                for name, key in (
                    ("repetition_ratio", "repetition_ratio"),
                    ("numbers_copied_ratio", "numbers_copied_ratio"),
                    ("invalid_ratio", "invalid_output"),
                )
            },
        }
        for mode in sorted({each["inference_mode"] for each in judged})
    ]


def mean_ratio(ratios: Iterable[float | bool | None]) -> float | None:
    """Return the mean in whole millionths, half of one upwards; None of nothing."""
    known = [round(float(each) * 1_000_000) for each in ratios if each is not None]
    return (2 * sum(known) + len(known)) // (2 * len(known)) / 1_000_000 if known else None


def at(ascending: Sequence[int], percentile: int) -> float:
    """Return a percentile in seconds."""
    return ascending[rank_of(len(ascending), Fraction(percentile)) - 1] / SECOND_US


def source_row(source: str, found: Sequence[tuple[Tree, Tree]]) -> Tree:
    """Return how many probes a source should have seen and saw: a gateway what got a status, the others what was answered."""
    expected = [
        (probe, source in seen)
        for probe, seen in found
        if (probe["status"] != 0 if source == "gateway" else probe["outcome"] == "ok")
    ]
    last = next((place for place, (_, was) in enumerate(reversed(expected)) if was), len(expected))
    count = sum(was for _, was in expected)
    return {
        "source": source,
        "expected": len(expected),
        "seen": count,
        "missing": len(expected) - count,
        "unseen_last": last,
        "unseen_since": written(instant(expected[-last][0]["intended_at"])) if last else None,
    }


def difference_rows(compared: tuple[Any, ...], found: Sequence[tuple[Tree, Tree]]) -> Iterable[Tree]:
    """Yield how far a duration of one source lies above that of another, if both have it of any answered probe."""
    clock, source, against, tolerance, share = compared
    name = "first_token_us" if clock == "time_to_first_token" else f"{clock}_us"
    pairs = [
        (seen[source][name], seen[against][name])
        for probe, seen in found
        if probe["outcome"] == "ok" and source in seen and against in seen
    ]
    apart = sorted(mine - theirs for mine, theirs in pairs if mine is not None and theirs is not None)
    if not apart:
        return
    sizes = sorted(abs(each) for each in apart)
    yield {
        "clock": clock,
        "source": source,
        "against": against,
        "n": len(apart),
        "min": apart[0] / SECOND_US,
        "median": at(apart, 50),
        "max": apart[-1] / SECOND_US,
        **{f"size_p{p}": at(sizes, p) for p in (50, 95, 99)},
        "tolerance": seconds(tolerance),
        "beyond": None if tolerance is None else sum(size > tolerance for size in sizes),
        "may_be_beyond": None if tolerance is None else share,
    }


def clock_rows(pair: tuple[str, str], found: Sequence[tuple[Tree, Tree]]) -> Iterable[Tree]:
    """Yield between what each inner clock is ahead of each outer one: the inner part lies within the outer part."""
    spans: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for probe, seen in found:
        inner, outer = (seen.get(source) for source in pair)
        if probe["outcome"] != "ok" or inner is None or outer is None:
            continue
        values = [each[name] for each in (inner, outer) for name in ("began_at", "end_to_end_us")]
        if None in values:
            continue
        began = instant(values[0]) - instant(values[2])
        ended = began + values[1] - values[3]
        spans[inner["instance"], outer["instance"]].append((ended - RESOLUTION_US, began + RESOLUTION_US))
    for (instance, against_instance), bounds in sorted(spans.items()):
        third = max(1, len(bounds) // 3)
        (low, high), first, last = (
            (
                sorted(each[0] for each in some)[-1 - len(some) // PASSED_OVER],
                sorted(each[1] for each in some)[len(some) // PASSED_OVER],
            )
            for some in (bounds, bounds[:third], bounds[-third:])
        )
        yield {
            "source": pair[0],
            "instance": instance,
            "against": pair[1],
            "against_instance": against_instance,
            "n": len(bounds),
            "ahead": [low / SECOND_US, high / SECOND_US],
            "ahead_first": [us / SECOND_US for us in first],
            "ahead_last": [us / SECOND_US for us in last],
            "apart": max(0, low, -high) / SECOND_US,
            "moved": max(0, low - high) / SECOND_US,
        }


# ---------------------------------------------------------------- 16. all of it


def recomputed(bundle: Bundle) -> tuple[Tree, list[str]]:
    """Return report.json as it follows from the bundle's other files, and a sentence for each of them that is wrong in itself."""
    manifest = bundle.json("manifest.json")
    label, as_of = manifest["month"], instant(manifest["as_of"])
    rows = bundle.columns("requests.parquet")
    order = sorted(range(len(rows["received_us"])), key=lambda i: rows["received_us"][i])
    rows = {name: [values[i] for i in order] for name, values in rows.items()}
    calendars = bundle.json("calendar.json")["versions"]
    trees = bundle.json("contract.json")["versions"]
    versions = [Version(tree, calendar, as_of) for tree, calendar in zip(trees, calendars)]
    readings = [Reading(bundle, version, rows, label) for version in versions]
    whole = Whole(readings, as_of)
    problems = [
        *contract_faults(bundle, trees),
        *calendar_faults(calendars, readings),
        *request_faults(readings),
    ]

    lines = bundle.lines("ledger.jsonl")
    held, wrong = ledger_faults(
        [each for each in lines if "ends" not in each],
        [end for each in lines for end in each.get("ends", ())],
    )
    problems += wrong
    prices = {each["sha256"]: json.loads(each["body"]) for each in bundle.lines("prices.jsonl")}
    tenants = whole.latest.tenants
    charged = charged_in(held, prices, tenants, whole.period, label)
    parts = [
        charged_in(held, prices, reading.version.tenants, reading.month.period, label) for reading in readings
    ]
    costs = [cost_rows(reading, part) for reading, part in zip(readings, parts)]
    computed = [
        (reading, part, due)
        for reading, part, by_number in zip(readings, parts, costs)
        if part is not None
        for due in dues_of(reading, by_number, part)
    ]
    credits_ = credit_rows(whole, label, computed, bundle.lines("credits.jsonl"))
    covered = bundle.json("covered.json")
    traffic = traffic_section(whole)
    unmeasured = whole.latest.clauses["unmeasured"]
    report: Tree = {
        "schema": "fairclock.report/1",
        "contract": contract_section(whole),
        "period": period_section(whole, label),
        "as_of": written(as_of),
        "traffic": traffic,
        "coverage": coverage_section(whole, traffic, covered),
        "latency": latency_section(whole),
        "percentile_curve": curve_section(whole),
        "breakdown": breakdown_section(whole),
        "objectives": [
            row for reading, by_number in zip(readings, costs) for row in objective_rows(reading, by_number)
        ],
        "error_budgets": [row for reading in readings for row in budget_rows(reading)],
        "exclusions": [row for reading in readings for row in exclusion_rows(reading)],
        "degradations": degradation_rows(whole, bundle.lines("degradations.jsonl")),
        "incidents": incident_rows(
            whole, covered, bundle.lines("incidents_told.jsonl"), whole.latest.clauses["id"]
        ),
        "incident_rule": {
            "least_bad": LEAST_BAD,
            "good_minutes": GOOD_MINUTES,
            "silent_minutes": SILENT_MINUTES,
            "unmeasured_minutes": UNMEASURED_MINUTES,
            "most_looked_into": MOST_LOOKED_INTO,
        },
        "cost": cost_section(charged),
        "credits": credits_,
        "amounts": amounts_section(charged, credits_),
        "evidence": {
            "rows": traffic["admitted"],
            "rows_sha256": rows_sha256(whole),
            "seals": len(bundle.lines("seals.jsonl")),
        },
        "simulated": whole.count(lambda month, j: month.rows["simulated"][j] != 0) > 0,
        "daily": daily_section(whole),
        "measurement": measurement_section(
            whole, bundle.lines("probes.jsonl"), bundle.lines("sightings.jsonl")
        ),
        "unmeasured": {**unmeasured, "coverage_floor": float(percent(unmeasured["coverage_floor"]))},
        "not_evaluated": not_evaluated(readings, costs, is_rated=charged is not None),
    }
    report.update(status_of(bundle, report, whole.latest))
    problems += [*issue_faults(bundle, report), *seal_faults(bundle, whole)]
    return report, problems


def status_of(bundle: Bundle, report: Tree, version: Version) -> Tree:
    """Return draft or final, which revision it is, and what changed: of an issued report, since the one issued before."""
    revision = revision_of(report, bundle.lines("revisions.jsonl"))
    if bundle.json("report.json").get("issue") is None:
        return {"status": "draft", **revision}
    chain = bundle.lines("issued.jsonl")
    issued, before = chain[-1], chain[:-1]
    same_month = [each for each in before if each["month"] == issued["month"]]
    keys = version.clauses.get("signatures", {})
    issue = {
        "number": issued["number"],
        "issued_at": issued["issued_at"],
        "supersedes": same_month[-1]["number"] if same_month else None,
        "previous": {name: before[-1][name] for name in ("number", "sha256")} if before else None,
        "keys": {"provider": keys.get("provider_key"), "customer": keys.get("customer_key")},
    }
    if not same_month:
        return {"status": "final", "issue": issue, **revision}
    last = same_month[-1]
    figures = json.loads(json.dumps(figures_of(bundle.json("previous_report.json"))))
    return {
        "status": "final",
        "issue": issue,
        "revision": max(revision["revision"], last["revision"] + 1),
        "previous_revision": {"revision": last["revision"], "as_of": last["as_of"], "number": last["number"]},
        "changes": list(changes_between(figures, figures_of(report))),
    }


def issue_faults(bundle: Bundle, report: Tree) -> list[str]:
    """Return where the chain of issued reports breaks, or names other bytes than are here."""
    problems, previous = [], "0" * 64
    chain = bundle.lines("issued.jsonl")
    for place, each in enumerate(chain, start=1):
        if (each["sequence"], each["previous"]) != (place, previous):
            problems.append(
                f"issued.jsonl: {each['number']}: it does not continue the report issued before it"
            )
        previous = each["sha256"]
    if report["status"] == "final":
        held = {each["number"]: each["sha256"] for each in chain}
        if chain[-1]["sha256"] != sha256_of(bundle.folder / "report.json"):
            problems.append(
                f"issued.jsonl: {chain[-1]['number']} was issued with other bytes than report.json has"
            )
        superseded = report["issue"]["supersedes"]
        if superseded is not None and held[superseded] != sha256_of(bundle.folder / "previous_report.json"):
            problems.append(
                f"issued.jsonl: {superseded} was issued with other bytes than previous_report.json has"
            )
    return problems


def seal_faults(bundle: Bundle, whole: Whole) -> list[str]:
    """Return seals of days that are wrong in themselves. The newest of each day is held against the requests that are here.

    Requests that came after a day was sealed are no fault of the bundle; NOTES says in which hours there are such.
    """
    problems: list[str] = []
    newest: dict[str, Tree] = {}
    for path in (
        sorted((bundle.folder / "day_seals").glob("*.json")) if (bundle.folder / "day_seals").is_dir() else ()
    ):
        seal = bundle.json(f"day_seals/{path.name}")
        text = "".join(f"{each['hour']}\t{each['rows']}\t{each['rows_sha256']}\n" for each in seal["hours"])
        if hashlib.sha256(text.encode()).hexdigest() != seal["hours_sha256"] or seal["rows"] != sum(
            each["rows"] for each in seal["hours"]
        ):
            problems.append(f"day_seals/{path.name}: its hash is not that of its hours")
        if seal["day"] not in newest or newest[seal["day"]]["revision"] < seal["revision"]:
            newest[seal["day"]] = seal
    for day, seal in sorted(newest.items()):
        sealed = {each["hour"]: (each["rows"], each["rows_sha256"]) for each in seal["hours"]}
        found = hours_of(whole, span_of(seal))
        other = [hour for hour in sorted({*sealed, *found}) if sealed.get(hour) != found.get(hour)]
        if other:
            NOTES.append(
                f"{day}: the newest seal of the day has other requests than are here, in the hours {', '.join(other)}"
            )
    return problems


NOTES: list[str] = []
"""What a reader should know and is no fault."""


def contract_faults(bundle: Bundle, trees: Sequence[Tree]) -> list[str]:
    """Return where a version's hash is not that of its file."""
    return [
        f"{tree['file']}: it is not the file that the report names ({tree['version_sha256']})"
        for tree in trees
        if not (bundle.folder / tree["file"]).is_file()
        or sha256_of(bundle.folder / tree["file"]) != tree["version_sha256"]
    ]


def calendar_faults(calendars: Sequence[Tree], readings: Sequence[Reading]) -> list[str]:
    """Return where the calendar as it is written out is not what the contract's rules give."""
    problems = []
    for calendar, reading in zip(calendars, readings):
        for said in calendar["months"]:
            month = reading.months[said["month"]]
            spans = {
                "whole": (month.whole, span_of(said["whole"])),
                "period": (month.period, span_of(said["period"])),
            }
            spans.update(
                {
                    name: (reading.version.named(name, month.period), [span_of(each) for each in listed])
                    for name, listed in said["named"].items()
                }
            )
            problems += [
                f"calendar.json: {said['month']}: {name} is not what the rules give"
                for name, (one, two) in spans.items()
                if one != two
            ]
    return problems


def request_faults(readings: Sequence[Reading]) -> list[str]:
    """Return requests that are outside the contract's scope, come twice, or are marked as left out otherwise than the exclusions say."""
    problems = []
    for reading in readings:
        month, scope = reading.month, reading.version.clauses["scope"]
        left_out = month.left_out(reading.excluded)
        seen = set()
        for j in range(month.count):
            row = {name: values[j] for name, values in month.rows.items()}
            name = f"requests.parquet: {row['id']}-{row['k']}, received {written(row['received_us'])}"
            in_scope = row["tenant"] in reading.version.tenants and all(
                not scope[f"{key}s"] or row[key] in {*scope[f"{key}s"], *(() if key == "route" else ("",))}
                for key in ("model", "route", "region")
            )
            if not in_scope:
                problems.append(f"{name}: it is not in the contract's scope")
            if (row["id"], row["k"], row["received_us"]) in seen:
                problems.append(f"{name}: it is there twice")
            seen.add((row["id"], row["k"], row["received_us"]))
            if bool(row["exclusion"]) != left_out[j]:
                problems.append(f"{name}: whether it is left out is marked wrongly")
    return problems[:20]


def leaves(tree: Any, path: str = "") -> Iterable[tuple[str, Any]]:
    """Yield every value of a tree with its path."""
    if isinstance(tree, dict) and tree:
        for key, value in tree.items():
            yield from leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(tree, list) and tree:
        for place, value in enumerate(tree):
            yield from leaves(value, f"{path}[{place}]")
    else:
        yield path, tree


def is_left_alone(path: str) -> bool:
    """Tell whether a value is one of those that are not recomputed."""
    general = re.sub(r"\[[0-9]+\]", "[]", path)
    return any(
        general == pattern or general.startswith((f"{pattern}.", f"{pattern}["))
        for pattern, _ in NOT_RECOMPUTED
    )


def differing(said: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Return a sentence for each value, by path, that is not the one that follows; those that are left alone have none."""
    problems = []
    for path, value in said.items():
        if path not in found:
            problems.append(f"report.json: {path}: it says {shown(value)}; nothing of it follows")
        elif type(found[path]) is not type(value) or found[path] != value:
            problems.append(f"report.json: {path}: it says {shown(value)}; {shown(found[path])} follows")
    problems += [
        f"report.json: {path}: it is missing; {shown(value)} follows"
        for path, value in found.items()
        if path not in said
    ]
    return problems


def compare(report: Tree, found: Tree) -> tuple[int, int, list[str]]:
    """Return how many values follow, how many are not recomputed, and a sentence for each that does not follow."""
    said, ours = dict(leaves(report)), dict(leaves(found))
    alone = {path for path in {**said, **ours} if is_left_alone(path)}
    said, ours = ({path: value for path, value in each.items() if path not in alone} for each in (said, ours))
    problems = differing(said, ours)
    return len(said) - sum(": it says " in each for each in problems), len(alone), problems


def shown(value: Any) -> str:
    """Write a value as JSON does."""
    return json.dumps(value, ensure_ascii=False)


def main(arguments: Sequence[str]) -> int:
    """Verify a bundle and print what was found."""
    if len(arguments) > 1:
        print("usage: python verify.py [FOLDER]", file=sys.stderr)
        return 2
    folder = Path(arguments[0] if arguments else Path(__file__).resolve().parent)
    problems = altered_files(folder)
    same = alone = 0
    try:
        bundle = Bundle(folder)
        found, wrong = recomputed(bundle)
        same, alone, differing = compare(bundle.json("report.json"), found)
        problems += [*wrong, *differing]
    except ImportError as error:  # says nothing of the bundle
        for problem in problems:
            print(f"NOT SO  {problem}")
        print(
            f"No value was recomputed: {error}; install pyarrow (python -m pip install pyarrow).",
            file=sys.stderr,
        )
        return 2
    except Unreadable as error:
        problems.append(str(error))
    except Exception as error:  # noqa: BLE001 - whatever an altered file brings about has to end in a sentence
        problems.append(f"the bundle cannot be recomputed: {type(error).__name__}: {error}")
    for problem in problems:
        print(f"NOT SO  {problem}")
    print(f"{same} values of report.json follow from the bundle, {alone} are not recomputed:")
    for path, why in NOT_RECOMPUTED:
        print(f"        {path}: {why}")
    for note in NOTES:
        print(f"NOTE    {note}")
    if problems:
        print(f"{len(problems)} things do not hold.")
        return 2 if not same else 1
    print("Everything holds.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
