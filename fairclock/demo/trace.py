"""Own recorded arrivals: a file of times and token counts, played through the simulated engines."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from fairclock.demo.month import month_of
from fairclock.demo.tenants import Tenant
from fairclock.demo.traffic import PathTimes, Traffic
from fairclock.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from fairclock.demo.month import Month

COLUMNS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
MODEL = "recorded"
TENANT = Tenant(name="trace", model=MODEL, requests_per_second=1e6, request_burst=1_000_000)
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Recorded requests of one calendar month (UTC), by time of arrival."""

    month: Month
    received_seconds: NDArray[np.float64]  # since the month began
    prompt_tokens: NDArray[np.int64]
    completion_tokens: NDArray[np.int64]


def read_trace(path: Path) -> Trace:
    """Read ``TIMESTAMP,ContextTokens,GeneratedTokens`` rows; times without a zone are UTC.

    Raises InputError for what is no trace, and for rows of more than one calendar month.
    """
    rows = sorted(_rows(path))
    month = month_of(f"{datetime.fromtimestamp(rows[0][0], UTC):%Y-%m}", zone="UTC")
    received = np.array(
        [seconds - month.epoch_seconds + nanoseconds / 1e9 for seconds, nanoseconds, _, _ in rows]
    )
    if received[-1] >= month.length_seconds:
        last = datetime.fromtimestamp(rows[-1][0], UTC)
        raise InputError(
            str(path),
            "the rows span more than one calendar month (UTC)",
            found=f"{month.name} to {last:%Y-%m}",
            remedy="cut the file into months",
        )
    return Trace(
        month=month,
        received_seconds=received,
        prompt_tokens=np.array([context for _, _, context, _ in rows], dtype=np.int64),
        completion_tokens=np.array([generated for _, _, _, generated in rows], dtype=np.int64),
    )


def recorded_traffic(trace: Trace, *, seed: int) -> Traffic:
    """Return `trace` as traffic of one tenant whose clients wait for ever.

    `seed` draws only what a recording does not say: the milliseconds on the way to the engine and back.
    """
    size = len(trace.received_seconds)
    return Traffic(
        epoch_seconds=trace.month.epoch_seconds,
        tenants=(TENANT,),
        received_seconds=trace.received_seconds,
        tenant=np.zeros(size, dtype=np.int16),
        prompt_tokens=trace.prompt_tokens,
        completion_tokens=trace.completion_tokens,
        stream=np.zeros(size, dtype=np.bool_),
        malformed=np.zeros(size, dtype=np.bool_),
        patience_seconds=np.full(size, np.inf),
        leaves_after_tokens=np.zeros(size, dtype=np.int64),
        path=PathTimes.drawn(np.random.default_rng(seed), trace.prompt_tokens),
    )


def _rows(path: Path) -> list[tuple[int, int, int, int]]:
    """Return (Unix seconds, nanoseconds, context tokens, generated tokens) of every row."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            if tuple(header) != COLUMNS:
                raise InputError(
                    f"{path}:1",
                    "not the header of a trace",
                    found=",".join(header)[:80] or "nothing",
                    remedy=f"the first line must be {','.join(COLUMNS)}",
                )
            rows = [_row(row, where=f"{path}:{reader.line_num}") for row in reader if row]
    except OSError as error:
        raise InputError(str(path), "cannot be read", found=error.strerror) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(str(path), "not a CSV file in UTF-8", found=str(error)) from error
    if not rows:
        raise InputError(str(path), "no rows", remedy="a trace needs at least one request")
    return rows


def _row(row: list[str], *, where: str) -> tuple[int, int, int, int]:
    if len(row) != len(COLUMNS):
        raise InputError(where, "a row needs three fields", found=",".join(row)[:80])
    match = _INSTANT.fullmatch(row[0])
    try:
        moment = datetime.fromisoformat(match[1] + (match[3] or "Z")) if match else None
    except ValueError:  # the 31st of June
        moment = None
    if match is None or moment is None:
        raise InputError(
            where, "not an instant", found=row[0][:40], remedy="write 2023-11-16 18:17:03.9799600"
        )
    counts = [int(text) if text.isascii() and text.isdigit() else 0 for text in row[1:]]
    if min(counts) < 1:
        raise InputError(
            where, "token counts must be whole numbers of at least 1", found=f"{row[1]},{row[2]}"[:40]
        )
    nanoseconds = int((match[2] or "0").ljust(9, "0"))
    return int(moment.timestamp()), nanoseconds, counts[0], counts[1]
