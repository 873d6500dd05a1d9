"""Own ``fairclock reports compare``: a customer's own measurements of a month held against ours."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fairclock.cli.options import check_month, common_options, instant, read_input, store_dsn
from fairclock.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store import Store
    from sla.bundle.comparison import Comparison, Layout
    from sla.contracts import Contract

_COLUMN = re.compile(r"(id|trace|start|duration|first_token|status)=(.+)")
_MOST_BAD_LINES = 10
_WIDTH = 21


@click.command("compare", short_help="Hold a customer's own measurements against ours.")
@common_options
@click.argument("contract", type=click.Path(path_type=Path))
@click.option("--month", required=True, metavar="YYYY-MM", help="The month, in the contract's time zone.")
@click.option(
    "--customer-log",
    "log",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV with a header, or JSON lines.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="WHAT=NAME",
    help="What a column is called; WHAT is id, trace, start, duration, first_token or status.",
)
@click.option(
    "--unit",
    type=click.Choice(["s", "ms", "us"]),
    default=None,
    help="Of durations whose column does not end with one.",
)
@click.option(
    "--zone", default=None, metavar="ZONE", help="Of instants that have none, such as Asia/Shanghai."
)
@click.option(
    "--tolerance",
    default="1s",
    metavar="DURATION",
    help="How far apart two may be that only time matches (default: 1s).",
)
@click.option(
    "--clock-offset",
    default=None,
    metavar="SECONDS",
    help="How far the customer's clock is ahead (default: learned from ids).",
)
@click.option(
    "--as-of", default=None, metavar="INSTANT", help="As it was known then (default: as it is now)."
)
@click.option(
    "--csv",
    "csv_path",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Write every line and every request as CSV.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(
    *,
    contract: Path,
    month: str,
    log: Path,
    columns: tuple[str, ...],
    unit: str | None,
    zone: str | None,
    tolerance: str,
    clock_offset: str | None,
    as_of: str | None,
    csv_path: Path | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Hold a customer's own log of a month against the requests that the report of CONTRACT counts.

    Requests are matched by trace id, by request id, else by time where nothing else fits. Durations are compared as each host
    measured them; the clocks' offset is used to find pairs only. Every line of the log is matched, missing here,
    ambiguous, outside the month, or bad, and is counted as one of these.
    """
    del debug, quiet
    check_month(month)
    layout = _layout(columns, unit, zone)
    tolerance_us, offset_us = _tolerance(tolerance), _offset(clock_offset)
    moment = None if as_of is None else instant(as_of, where="--as-of")

    from fairclock.store import open_store  # noqa: PLC0415
    from sla.bundle.comparison import compare as compared  # noqa: PLC0415
    from sla.bundle.comparison import comparison_csv, match, our_requests, read_log  # noqa: PLC0415
    from sla.contracts.versions import load_versions  # noqa: PLC0415

    versions = load_versions(contract)
    theirs, bad = read_log(read_input(log), layout, where=str(log))
    with open_store(store_dsn(dsn, config)) as store:
        parts = _parts(store, versions, month, moment)
        known = store.checked_as_of(moment)
        ours = our_requests(store, parts, known)
    matched = match(theirs, ours, tolerance_us=tolerance_us, offset_us=offset_us)
    period = _period(parts)
    found = compared(matched, bad, lines=len(theirs) + len(bad), period=period)
    if csv_path is not None:
        from fairclock.documents.files import write_whole  # noqa: PLC0415

        write_whole(csv_path, comparison_csv(found))
        click.echo(str(csv_path), err=True)
    if as_json:
        click.echo(json.dumps(found.tree(), ensure_ascii=False, indent=2))
    else:
        for line in _table(found):
            click.echo(line)


def _layout(columns: Sequence[str], unit: str | None, zone: str | None) -> Layout:
    from fairclock.model.zones import zone_of  # noqa: PLC0415
    from sla.bundle.comparison import Layout  # noqa: PLC0415

    named = {}
    for each in columns:
        match = _COLUMN.fullmatch(each)
        if match is None:
            raise UsageError("--column", "names no column", found=each, remedy="write duration=latency_ms")
        named[match[1]] = match[2]
    try:
        place = None if zone is None else zone_of(zone)
    except ValueError as error:
        raise UsageError(
            "--zone", "no such zone", found=zone, remedy="write a place, such as Asia/Shanghai"
        ) from error
    return Layout(columns=named, unit=unit, zone=place)


def _tolerance(text: str) -> int:
    from fairclock.clauses.quantities import QuantityError, read_duration_us  # noqa: PLC0415

    try:
        return read_duration_us(text)
    except QuantityError as error:
        raise UsageError("--tolerance", error.problem, found=text, remedy=error.remedy) from error


def _offset(text: str | None) -> int | None:
    from decimal import Decimal, InvalidOperation  # noqa: PLC0415

    if text is None:
        return None
    try:
        return int(Decimal(text) * 1_000_000)
    except (InvalidOperation, ValueError, OverflowError) as error:
        raise UsageError(
            "--clock-offset", "is no number of seconds", found=text, remedy="write 0.25 or -3"
        ) from error


def _parts(
    store: Store, versions: Sequence[Contract], month: str, as_of: datetime | None
) -> list[tuple[Contract, Interval]]:
    """Return the versions that judge a month, each with what has passed of its part."""
    from sla.bundle.reach import spans_of  # noqa: PLC0415

    return spans_of(versions, month, store.checked_as_of(as_of))


def _period(parts: Sequence[tuple[Contract, Interval]]) -> Interval:
    from fairclock.model import Interval  # noqa: PLC0415

    return Interval(start=parts[0][1].start, end=parts[-1][1].end)


def _table(found: Comparison) -> list[str]:
    tree = found.tree()
    matched = tree["matched"]
    offset = tree["clock_offset"]
    by = f"by trace {matched['by_trace']}, by id {matched['by_id']}, by time {matched['by_time']}"
    lines = [
        f"{'their lines':<{_WIDTH}}{tree['their_lines']:>10}",
        f"{'matched':<{_WIDTH}}{matched['requests']:>10}   {by}",
        f"{'only theirs':<{_WIDTH}}{tree['only_theirs']:>10}",
        f"{'only ours':<{_WIDTH}}{tree['only_ours']['requests']:>10}   "
        + ", ".join(f"{name} {count}" for name, count in tree["only_ours"]["by_outcome"].items()),
        f"{'ambiguous':<{_WIDTH}}{tree['ambiguous']['theirs']:>10}   ours {tree['ambiguous']['ours']}",
        f"{'outside the month':<{_WIDTH}}{tree['outside_the_month']:>10}",
        f"{'bad lines':<{_WIDTH}}{len(tree['bad_lines']):>10}",
        f"{'other status':<{_WIDTH}}{tree['other_status']:>10}",
        f"{'clock offset, s':<{_WIDTH}}{'not known' if offset is None else f'{offset:.6f}':>10}",
        "",
        f"{'seconds':<{_WIDTH}}"
        + "".join(f"{name:>11}" for name in ("n", "min", "p50", "p95", "p99", "max")),
        _spread("theirs", tree["theirs"]),
    ]
    for clock, said in tree["clocks"].items():
        lines.append(_spread(clock, said["ours"]))
        lines.append(_spread("  theirs less ours", said["theirs_less_ours"]))
    lines += [f"line {bad['line']}: {bad['problem']}" for bad in tree["bad_lines"][:_MOST_BAD_LINES]]
    if len(tree["bad_lines"]) > _MOST_BAD_LINES:
        lines.append(f"and {len(tree['bad_lines']) - _MOST_BAD_LINES} more bad lines; --json names them all")
    return [line.rstrip() for line in lines]


def _spread(name: str, spread: dict[str, float | int | None]) -> str:
    cells = [spread[each] for each in ("n", "min", "p50", "p95", "p99", "max")]
    shown = [
        "-" if each is None else f"{each:.6f}" if isinstance(each, float) else str(each) for each in cells
    ]
    return f"{name:<{_WIDTH}}" + "".join(f"{each:>11}" for each in shown)
