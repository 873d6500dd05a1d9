"""Own what scripts say has happened: requests, time read through, probes, engines' starts; and its way into the store."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from collectors.gateway.files import read_gateway_files
from collectors.otlp.files import read_otlp_files
from fairclock.model import Interval
from fairclock.model.probes import Probe, ProbeOutcome
from fairclock.store import LineBatch
from fairclock.store.probes import keep_probes
from tests.scripted.quantities import duration_us, instant, interval
from tests.scripted.traffic import Traffic, read_kind

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.store import Store
    from tests.scripted.language import Statement

_LOAD = re.compile(r"(?P<at>.+?)(?: every (?P<every>\S+))?(?: x (?P<times>\d+))?")
_ENGINE = re.compile(r"(\S+) (started|stopped) (.+)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KINDS = ("gateway", "engine")
_SOMEBODY_ELSE = json.dumps(
    {
        "time": "1767225600.000",
        "request_time": "0.001",
        "status": "200",
        "tenant": "somebody else",
        "uri": "/",
    }
)
_STARTUP = {"name": "startup", "traceId": "1" * 32, "spanId": "1" * 16}
_NO_REQUEST = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [_STARTUP]}]}]})


@dataclass(slots=True, kw_only=True)
class Sources:
    """What is said of gateways and engines, kept until `store_all` puts it into files and reads these."""

    store: Store
    folder: Path
    traffic: Traffic = field(default_factory=Traffic)
    covered: dict[str, list[Interval]] = field(default_factory=dict)
    files: list[tuple[str, Path]] = field(default_factory=list)
    probes: int = 0

    def cover(self, statement: Statement, zone: str) -> None:
        """Say that a source, or both, was read through in an interval."""
        first, _, rest = statement.words.partition(" ")
        kinds, text = ((first,), rest) if first in _KINDS else (_KINDS, statement.words)
        start, end = interval(text, zone)
        for kind in kinds:
            self.covered.setdefault(kind, []).append(Interval(start=start, end=end))

    def load(self, statement: Statement, zone: str) -> None:
        """Let requests come."""
        match = _LOAD.fullmatch(statement.head)
        if match is None:
            raise ValueError(f"loads nothing ({statement.head})")
        kind = read_kind(statement.facts)
        received = instant(match["at"], zone)
        step = timedelta(microseconds=duration_us(match["every"] or "0s"))
        for number in range(int(match["times"] or 1)):
            self.traffic.add(kind, received + number * step)

    def probe(self, statement: Statement, zone: str) -> None:
        """Let a probe end as the statement says."""
        at = instant(statement.head, zone)
        (outcome,) = statement.facts
        self.probes += 1
        probe = Probe(
            id=f"probe-{self.probes}",
            target="https://llm.example.com",
            outcome=ProbeOutcome(outcome),
            intended_at=at,
            sent_at=at,
        )
        keep_probes(self.store, [probe])

    def engine(self, statement: Statement, zone: str) -> None:
        """Let an engine's plugin say that it started or stopped."""
        match = _ENGINE.fullmatch(statement.words)
        if match is None:
            raise ValueError(f"is not NAME started INSTANT, nor stopped ({statement.words})")
        name, event, at = match.groups()
        nanoseconds = (instant(at, zone) - _EPOCH) // timedelta(microseconds=1) * 1_000
        line = {"event": event, "at_ns": str(nanoseconds), "instance": name, "engine_rank": 0}
        batch = LineBatch(kind="engine_state", source="plugin", lines=[json.dumps(line).encode()])
        if self.store.ingest(batch).stored != 1:
            raise ValueError("was not stored")

    def store_all(self) -> None:
        """Write files of what was said since the last time, and read them as ``fairclock ingest`` does."""
        lines, spans = self.traffic.take()
        covered, self.covered = self.covered, {}
        if "gateway" in covered and not lines:
            lines = [_SOMEBODY_ELSE]  # a log that was read through, without a line of the contract's
        if "engine" in covered and not spans:
            spans = [_NO_REQUEST]
        for kind, texts in (("gateway", lines), ("engine", spans)):
            if not texts:
                continue
            path = self.folder / f"{len(self.files) + 1}.{kind}.jsonl"
            path.write_text("\n".join(texts) + "\n", encoding="utf-8")
            self.files.append((kind, path))
            for through in covered.get(kind, (None,)):
                self._ingest(kind, path, covers=through)

    def read_again(self) -> None:
        """Read every file once more."""
        self.store_all()
        for kind, path in self.files:
            self._ingest(kind, path)

    def _ingest(self, kind: str, path: Path, *, covers: Interval | None = None) -> None:
        """Read a file; without `covers` it covers the time from its first to its last event."""
        read = read_gateway_files if kind == "gateway" else read_otlp_files
        (reading,) = read(self.store, [str(path)], source=kind, covers=covers)
        if reading.problem or reading.counts.dead_letters:
            raise ValueError(f"{path.name} could not be read: {reading.problem or reading.counts}")
