"""Own ``fairclock doctor``: look at everything that Fairclock depends on, and say what to do about it."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fairclock.cli.configuration import configuration
from fairclock.cli.diagnosis.finding import ok
from fairclock.cli.options import common_options, store_dsn
from fairclock.config import find_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.cli.diagnosis.finding import Finding

_MARKS = {"ok": "ok     ", "warning": "warning", "error": "error  "}
_NS_PER_US = 1_000


@click.command("doctor", short_help="Check configuration, store, disk, clock, fonts and ports.")
@common_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, as_json: bool, dsn: str | None, config: Path | None, quiet: bool, debug: bool) -> int:
    """Check configuration, store, schema, disk, clock, fonts, ports, logs and contracts; change nothing.

    Exit code 0: nothing is broken (there may be warnings); 1: something is; 2: the configuration cannot be read.
    """
    del debug
    findings = []
    for finding in diagnose(dsn, config):
        findings.append(finding)
        if not as_json and not (quiet and finding.state == "ok"):
            remedy = f"; {finding.remedy}" if finding.remedy else ""
            click.echo(f"{_MARKS[finding.state]}  {finding.check}: {finding.detail}{remedy}")
    counts = {state: sum(finding.state == state for finding in findings) for state in _MARKS}
    if as_json:
        checks = [asdict(finding) for finding in findings]
        answer = {"checks": checks, "warnings": counts["warning"], "errors": counts["error"]}
        click.echo(json.dumps(answer, ensure_ascii=False, indent=2))
    return 1 if counts["error"] else 0


def diagnose(dsn: str | None, config: Path | None) -> Iterator[Finding]:
    """Yield what is found, part by part; raises `ConfigurationError`."""
    from fairclock.cli.diagnosis import logs, machine, network  # noqa: PLC0415 - after the quick answers
    from fairclock.cli.diagnosis.contracts import contract_findings  # noqa: PLC0415
    from fairclock.cli.diagnosis.engines import engine_findings  # noqa: PLC0415
    from fairclock.cli.diagnosis.gpus import gpu_findings  # noqa: PLC0415
    from fairclock.cli.diagnosis.store import store_findings  # noqa: PLC0415
    from fairclock.cli.pipeline.places import spool_directory  # noqa: PLC0415
    from fairclock.store.dsn import EmbeddedAddress, parse_dsn  # noqa: PLC0415
    from fairclock.store.inspection import inspect_store  # noqa: PLC0415

    settings = configuration(config)
    path = find_file(config, environment=os.environ, folder=Path())
    yield ok("configuration", "none; defaults" if path is None else str(path.absolute()))
    now = datetime.now(UTC)
    yield machine.clock_finding(now)
    chosen = store_dsn(dsn, config)
    is_sidecar = settings.forward.to is not None and dsn is None
    if is_sidecar:
        yield network.forward_finding(settings.forward, now_us=time.time_ns() // _NS_PER_US)
    else:
        address = parse_dsn(chosen)
        marks = settings.sla.alerts.disk
        yield from store_findings(chosen, str(address), inspect=inspect_store, marks=marks)
        if isinstance(address, EmbeddedAddress):
            yield machine.folder_finding("store's disk", address.path, needs_bytes=0)
        yield from machine.document_findings()
    folder = spool_directory(settings, dsn=None if is_sidecar else chosen)
    yield from machine.spool_findings(folder, limit_bytes=settings.spool.limit)
    yield from logs.log_findings(settings.gateway)
    yield from contract_findings(settings.sla)
    yield from engine_findings(settings.vllm)
    yield from gpu_findings(settings.gpu)
    yield from network.port_findings(settings)
