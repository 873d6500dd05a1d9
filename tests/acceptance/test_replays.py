"""Own the proof that what was read once is not counted again, in whatever order, shape or state it comes back."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.commands import Worker, fairclock, ingest, said
from tests.acceptance.contracts import good_contract, latency, write_contract
from tests.acceptance.months import InventedMonth, invent
from tests.acceptance.traffic import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MONTH = "2026-10"
_DAY_US = 86_400 * SECOND


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replayed]:
    folder = tmp_path_factory.mktemp("replays")
    dsn = f"chdb://{folder}/store"
    with Worker(dsn, module="tests.acceptance.holder") as holder, Worker(dsn) as worker:
        holder.ask("SYSTEM STOP MERGES")
        yield Replayed(folder, dsn, worker)


class Replayed:
    """One invented month in a store that merges nothing, and the reports of it."""

    def __init__(self, folder: Path, dsn: str, worker: Worker) -> None:
        self.folder, self.dsn, self.worker = folder, dsn, worker
        month = invent(folder / "month", seed=11, zone="Asia/Shanghai", month=MONTH, scenes=160)
        whole = [(start - _DAY_US, end + _DAY_US) for start, end in month.covers["gateway"]]
        # without a gap: a file that is read again covers what it holds
        self.month: InventedMonth = replace(month, covers={"gateway": whole, "engine": whole})
        self.month.ingest(worker)
        self.contract = write_contract(
            good_contract(
                calendar={"day": [{"days": "mon-fri", "from": "08:00", "to": "20:00"}]},
                objectives=[
                    latency("p99", "end_to_end", 99, "2s", during="day"),
                    latency("queue", "queue", 95, "500ms", where={"prompt_tokens": {"below": 512}}),
                    {
                        "name": "availability",
                        "availability": {"formula": "request_ratio", "target": "99%"},
                    },
                ],
            ),
            folder,
        )
        self.first = self.report()
        self.as_of = json.loads(self.first)["as_of"]

    def report(self, as_of: str | None = None) -> bytes:
        report, _ = self.worker.report(self.contract, MONTH, self.folder / "reports", as_of=as_of)
        return report

    def replay(self) -> int:
        """Give everything again in every shape that a file may come back in; return how much of it was stored."""
        random, stored = Random(5), 0
        for kind, (path,) in (("otlp", self.month.engine), ("gateway", self.month.gateway)):
            again = [path]
            for name, lines in _shapes(path.read_bytes().splitlines(), random).items():
                again.append(self.folder / f"{kind}-{name}.jsonl.gz")
                again[-1].write_bytes(gzip.compress(b"\n".join(lines) + b"\n"))
            stored += ingest(self.worker, kind, again)["stored"]
        piped = fairclock("ingest", "gateway", "--json", "-", dsn=self.dsn, stdin=path.read_bytes())
        return stored + said(piped)["stored"]


def _shapes(lines: list[bytes], random: Random) -> dict[str, list[bytes]]:
    cut = len(lines) // 3
    return {
        "shuffled": random.sample(lines, len(lines)),
        "first-two-thirds": lines[: 2 * cut],
        "last-two-thirds": lines[cut:],
    }


def without(report: bytes, *keys: str) -> object:
    """Return the report without some of its top-level keys."""
    return {key: value for key, value in json.loads(report).items() if key not in keys}


def test_replaying_a_month_changes_no_byte_of_its_report_before_sealing_and_after(replayed: Replayed) -> None:
    assert replayed.month.differences(replayed.contract, replayed.first) == []

    assert replayed.replay() == 0
    assert replayed.report(replayed.as_of) == replayed.first
    assert _but_for_as_of(replayed.report()) == _but_for_as_of(replayed.first)

    assert replayed.worker.run("evaluate").code == 0
    sealed = replayed.report()
    assert without(sealed, "as_of", "evidence") == without(replayed.first, "as_of", "evidence")

    assert replayed.replay() == 0
    assert replayed.report(replayed.as_of) == replayed.first
    assert replayed.report(json.loads(sealed)["as_of"]) == sealed
    assert _but_for_as_of(replayed.report()) == _but_for_as_of(sealed)
    assert json.loads(replayed.worker.run("evaluate", "--json").out) == {"sealed_hours": 0}


def test_a_late_line_is_a_new_report_and_leaves_the_old_one_as_it_was(replayed: Replayed) -> None:
    assert replayed.worker.run("evaluate").code == 0
    old = replayed.report()
    line = next(line for line in replayed.month.gateway[0].read_bytes().splitlines() if b'"acme"' in line)
    late = json.loads(line) | {"time": "1792000000.123", "request_id": "late", "uri": "/v1/chat/completions"}
    late |= {"model": "deepseek-v4", "region": "cn-north"}
    path = replayed.folder / "late.jsonl"
    path.write_text(json.dumps(late) + "\n")
    assert ingest(replayed.worker, "gateway", [path])["stored"] == 1
    admitted = [json.loads(report)["traffic"]["admitted"] for report in (old, replayed.report())]
    assert admitted[1] == admitted[0] + 1
    assert json.loads(replayed.worker.run("evaluate", "--json").out) == {"sealed_hours": 1}
    assert replayed.report(json.loads(old)["as_of"]) == old


def _but_for_as_of(report: bytes) -> bytes:
    """Return the report's bytes with a fixed instant in place of its own."""
    as_of = json.loads(report)["as_of"].encode()
    assert report.count(as_of) == 1
    return report.replace(as_of, b"T")
