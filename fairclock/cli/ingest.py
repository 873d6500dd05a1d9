"""Own ``fairclock ingest``: files of gateway logs, engine spans or saved scrapes into the store."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar
from zoneinfo import ZoneInfo

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from fairclock.cli.configuration import configuration
from fairclock.cli.options import common_options, instant, store_dsn
from fairclock.cli.overriding import overridden
from fairclock.errors import UsageError
from fairclock.model import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from collectors.file_reading import FileReading
    from collectors.gateway.formats import Detected
    from fairclock.store import IngestCounts

F = TypeVar("F", bound="Callable[..., object]")
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(Z|[+-]\d{2}:\d{2})")
_INCOMPLETE = 2


def _file_options(default_source: str) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for option in (
            click.argument("files", metavar="FILE...", nargs=-1, required=True),
            click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON."),
            click.option(
                "--covers",
                metavar="FROM..TO",
                default=None,
                help="The event time that the files hold without a gap, such as 2026-10-01Z..2026-11-01Z; "
                "else from each file's earliest to its latest event.",
            ),
            click.option(
                "--source",
                metavar="NAME",
                default=default_source,
                show_default=True,
                help="What the rows are said to come from.",
            ),
        ):
            function = option(function)
        return common_options(function)

    return decorate


@click.group()
def command() -> None:
    """Read files into the store; reading a file again adds nothing.

    Files are plain or gzip, and - is standard input. Exit code 0 with dead letters, 2 if nothing could be read or
    a file breaks off.
    """


@command.command()
@click.option(
    "--format",
    "gateway__format",
    metavar="FORMAT",
    default=None,
    help="How the log is written: auto recognises it, file by file (default: the configuration's, else auto).",
)
@click.option(
    "--nginx-log-format",
    "gateway__log_format",
    metavar="TEXT",
    default=None,
    help="The log_format, where it is nginx's with one of your own: its text, or the directive.",
)
@_file_options("gateway")
def gateway(
    *,
    files: tuple[str, ...],
    source: str,
    covers: str | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
    **flags: str | None,
) -> int:
    """Read gateway logs, each file in the format that it is in."""
    from collectors.gateway.files import read_gateway_files  # noqa: PLC0415 - only when asked for
    from collectors.gateway.formats import AUTO, FormatChoice  # noqa: PLC0415
    from collectors.gateway.tenants import tenancy_of  # noqa: PLC0415

    del debug
    section = overridden(configuration(config), flags).gateway

    def tell(path: str, detected: Detected) -> None:
        is_asked = flags["gateway__format"] == AUTO or not detected.form.passes_through
        if detected.certain and is_asked and not quiet:
            click.echo(f"{path}: read as {detected.form.name}: {detected.why}", err=True)

    return _ingest(
        partial(
            read_gateway_files,
            choice=FormatChoice(section.full_format),
            tenancy=tenancy_of(section.tenants),
            tell=tell,
        ),
        files,
        unit="line",
        source=source,
        covers=covers,
        dsn=store_dsn(dsn, config),
        as_json=as_json,
        quiet=quiet,
    )


@command.command()
@_file_options("otlp")
def otlp(
    *,
    files: tuple[str, ...],
    source: str,
    covers: str | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> int:
    """Read vLLM's spans: OTLP in JSON or protobuf, one request or requests line by line."""
    from collectors.otlp.files import read_otlp_files  # noqa: PLC0415 - only when asked for

    del debug
    return _ingest(
        read_otlp_files,
        files,
        unit="span",
        source=source,
        covers=covers,
        dsn=store_dsn(dsn, config),
        as_json=as_json,
        quiet=quiet,
    )


@command.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
@click.option(
    "--zone",
    metavar="ZONE",
    default=None,
    help="The zone of nvidia-smi's times, which name none, such as UTC or Asia/Shanghai.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["prometheus", "dcgm", "nvidia-smi"]),
    default="prometheus",
    show_default=True,
    help="What the files are: answers of vLLM's /metrics or of a DCGM exporter, or nvidia-smi's CSV.",
)
@click.option(
    "--at",
    metavar="T",
    default=None,
    help="When the scrapes were taken, such as 2026-10-01T00:00:00Z; else when each file was last changed.",
)
@click.option(
    "--target",
    metavar="NAME",
    default="saved",
    show_default=True,
    help="Whose answers they are: one name for each engine, or its scrapes are taken for one's.",
)
@click.option(
    "--source",
    metavar="NAME",
    default=None,
    help="What the rows are said to come from (default: metrics; gpu for readings of GPUs).",
)
@common_options
def metrics(
    *,
    files: tuple[str, ...],
    at: str | None,
    format_name: Literal["prometheus", "dcgm", "nvidia-smi"],
    zone: str | None,
    target: str,
    source: str | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> int:
    """Read saved answers of vLLM's /metrics: Prometheus's text format or OpenMetrics, one a file.

    With --format, readings of GPUs: scrapes of a DCGM exporter, or streams of nvidia-smi --query-gpu --format=csv.
    """
    from collectors.gpu.files import read_gpu_files  # noqa: PLC0415 - only when asked for
    from collectors.vllm_metrics.files import read_metrics_files  # noqa: PLC0415

    del debug
    moment = None if at is None else instant(at, where="--at")
    read: Callable[..., list[FileReading]]
    if format_name == "prometheus":
        read = partial(read_metrics_files, at=moment, target=target)
    else:
        read = partial(
            read_gpu_files, form=format_name, at=moment, zone=None if zone is None else zone_named(zone)
        )
    return _ingest(
        read,
        files,
        unit="sample",
        source=source or ("metrics" if format_name == "prometheus" else "gpu"),
        covers=None,
        dsn=store_dsn(dsn, config),
        as_json=as_json,
        quiet=quiet,
    )


def _ingest(
    read: Callable[..., list[FileReading]],
    files: Sequence[str],
    *,
    unit: str,
    source: str,
    covers: str | None,
    dsn: str,
    as_json: bool,
    quiet: bool,
) -> int:
    from collectors.byte_streams import check_paths  # noqa: PLC0415
    from fairclock.store import IngestCounts, open_store  # noqa: PLC0415

    interval = None if covers is None else covered_interval(covers)
    check_paths(files)  # before a store is made for nothing
    with open_store(dsn) as store, _progress(files, quiet=quiet) as progress:
        readings = read(store, files, source=source, covers=interval, progress=progress)
    counts = sum((reading.counts for reading in readings), IngestCounts())
    _report(readings, counts, unit, as_json=as_json, quiet=quiet)
    nothing = not counts.stored + counts.duplicates and any(reading.problem for reading in readings)
    return _INCOMPLETE if nothing or not all(reading.complete for reading in readings) else 0


def _report(
    readings: Sequence[FileReading], counts: IngestCounts, unit: str, *, as_json: bool, quiet: bool
) -> None:
    for reading in readings:
        if reading.problem is not None:
            click.echo(str(reading.problem), err=True)
    from collectors.file_reading import number_of  # noqa: PLC0415

    shown = {
        "read": counts.read,
        "stored": counts.stored,
        "duplicates": counts.duplicates,
        "ignored": counts.ignored,
        "dead_letters": counts.dead_letters,
    }
    if as_json:
        click.echo(json.dumps(shown))
    else:
        click.echo(
            f"{number_of(counts.read, unit)} read: {counts.stored:,} stored, {counts.duplicates:,} already there, "
            f"{counts.ignored:,} ignored, {counts.dead_letters:,} dead letters"
        )
    if counts.dead_letters and not quiet:
        click.echo(
            'why dead letters: fairclock query "SELECT reason, count() FROM dead_letters FINAL GROUP BY reason"',
            err=True,
        )


def zone_named(name: str) -> ZoneInfo:
    """Return the zone with this name; raises `UsageError`."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError) as error:
        raise UsageError("--zone", "no such zone", found=name, remedy="write UTC or Asia/Shanghai") from error


def covered_interval(text: str) -> Interval:
    """Read FROM..TO: instants or dates, each with a zone; a date is its midnight, so TO is not covered itself."""
    start, separator, end = text.partition("..")
    if not separator:
        raise UsageError("--covers", "not FROM..TO", found=text, remedy="write 2026-10-01Z..2026-11-01Z")
    interval = [
        instant(_DATE.sub(r"\1T00:00:00\2", each) if _DATE.fullmatch(each) else each, where="--covers")
        for each in (start.strip(), end.strip())
    ]
    if interval[0] >= interval[1]:
        raise UsageError(
            "--covers", "ends before it begins", found=text, remedy="write the earlier one first"
        )
    return Interval(start=interval[0], end=interval[1])


@contextmanager
def _progress(files: Sequence[str], *, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """Show a bar on a terminal; yield what to call with each number of bytes read."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    from collectors.byte_streams import size_of  # noqa: PLC0415

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading", total=size_of(files))
        yield lambda taken: bar.advance(task, taken)
