"""Own the bundle as a folder: every file that a third party needs, and a manifest with the hash of each."""

from __future__ import annotations

import hashlib
import secrets
import shutil
import zipfile
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from fairclock.model import Interval
from sla.bundle.agreed import calendar_file, contract_files
from sla.bundle.history import history_files
from sla.bundle.issued import issued_files, seal_files
from sla.bundle.measured import measured_files, write_timeline
from sla.bundle.money import money_files
from sla.bundle.reach import judging
from sla.bundle.requests import write_requests
from sla.bundle.said import said_files
from sla.bundle.written import json_bytes
from sla.issuing.reports import read_issued
from sla.reports import report_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from fairclock.store import Store
    from fairclock.store.issued_reports import IssuedRow
    from sla.contracts import Contract

SCHEMA = "fairclock.bundle/1"
MANIFEST = "manifest.json"
_COPIED = ("verify.py", "method.md")
_FIRST_MOMENT = (1980, 1, 1, 0, 0, 0)
_BLOCK = 1 << 20


def bundle_name(report: Mapping[str, Any]) -> str:
    """Return what a report's bundle is called."""
    return f"{report['contract']['id']}-{report['period']['month']}-bundle"


def write_bundle(
    store: Store,
    versions: Sequence[Contract],
    report: Mapping[str, Any],
    directory: Path,
    *,
    as_of: datetime,
    issued: IssuedRow | None = None,
) -> Path:
    """Write the bundle of `report`, which was evaluated as of `as_of`, into a folder in `directory`; return the folder.

    issued: where `report` is an issued one, which is put in byte for byte. The same `as_of` gives the same bytes; so does
    an issued report until somebody else signs it. The folder is written beside and put in place whole; one of that name is replaced.
    """
    directory.mkdir(parents=True, exist_ok=True)
    folder = directory / bundle_name(report)
    beside = _beside(folder)
    beside.mkdir()
    try:
        _write_files(store, versions, report, beside, as_of=as_of, issued=issued)
        manifest = json_bytes(_manifest(beside, report))
        (beside / MANIFEST).write_bytes(manifest)
        noted = f"{hashlib.sha256(manifest).hexdigest()}  {MANIFEST}\n"
        (beside / "manifest.sha256").write_text(noted, encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return folder


def _write_files(
    store: Store,
    versions: Sequence[Contract],
    report: Mapping[str, Any],
    folder: Path,
    *,
    as_of: datetime,
    issued: IssuedRow | None,
) -> None:
    label = str(report["period"]["month"])
    judges = judging(store, versions, label, as_of)
    contract = judges[-1].contract
    period = Interval(start=judges[0].months[0].period.start, end=judges[-1].months[0].period.end)

    def contents() -> Iterator[tuple[str, bytes]]:
        yield "report.json", report_json(report) if issued is None else read_issued(store, issued).content
        yield from contract_files(judges)
        yield "calendar.json", calendar_file(judges)
        yield from said_files(store, judges, as_of)
        yield from money_files(store, contract, label, as_of)
        yield from measured_files(store, judges, as_of)
        yield from history_files(store, report, as_of)
        for name in _COPIED:
            yield name, (files("sla.bundle") / name).read_bytes()
        yield from issued_files(store, contract.id, issued, as_of)
        yield from seal_files(store, contract.id, period, as_of)

    for name, content in contents():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    write_requests(store, folder / "requests.parquet", judges, as_of)
    elapsed = Interval(start=period.start, end=judges[-1].months[0].elapsed.end)
    write_timeline(store, folder / "engine_timeline.parquet", contract.customer.tenants, elapsed, as_of)


def _manifest(folder: Path, report: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "contract": report["contract"]["id"],
        "month": report["period"]["month"],
        "as_of": report["as_of"],
        "files": {
            str(path.relative_to(folder).as_posix()): {
                "bytes": path.stat().st_size,
                "sha256": file_sha256(path),
            }
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        },
    }


def file_sha256(path: Path) -> str:
    """Return the hash of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _beside(path: Path) -> Path:
    """Return a name beside `path` that no other process writes to."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")


def zipped(folder: Path) -> Path:
    """Write a bundle as one ZIP file beside its folder, the same bytes for the same bundle, and return it."""
    path = folder.with_name(f"{folder.name}.zip")
    beside = _beside(path)
    with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in sorted(folder.rglob("*")):
            if each.is_file():
                name = f"{folder.name}/{each.relative_to(folder).as_posix()}"
                entry = zipfile.ZipInfo(name, date_time=_FIRST_MOMENT)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                # so that a file of more than 2 GiB gets the wider form of an entry
                entry.file_size = each.stat().st_size
                with each.open("rb") as source, archive.open(entry, "w") as target:
                    shutil.copyfileobj(source, target, _BLOCK)
    beside.replace(path)
    return path
