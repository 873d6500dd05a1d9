"""Own the playing of a script: each statement through the commands that people use, each expectation held against
the report.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from collectors.gateway.files import read_gateway_files
from collectors.otlp.files import read_otlp_files
from fairclock import __version__
from fairclock.cli import main
from fairclock.cli.report import exit_code
from fairclock.errors import FairclockError
from fairclock.model import Interval
from fairclock.model.probes import Probe, ProbeOutcome
from fairclock.store import LineBatch, Query
from fairclock.store.probes import keep_probes
from fairclock.store.remedies import exclusion_entries, keep_exclusion
from sla.contracts import require_lintable
from sla.contracts.versions import load_versions
from sla.evaluation import evaluate
from sla.reports import report_json
from tests.scripted import contracts, expecting
from tests.scripted.language import ScriptError, Statement
from tests.scripted.quantities import duration_us, instant, interval
from tests.scripted.traffic import Traffic, read_kind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairclock.store import Store

_LOAD = re.compile(r"(?P<at>.+?)(?: every (?P<every>\S+))?(?: x (?P<times>\d+))?")
_EXCLUDE = re.compile(r"(?P<clause>\w+) as (?P<name>\w+)")
_EVALUATE = re.compile(r"(?P<month>\d{4}-\d{2})(?: as of (?P<name>\w+))?")
_ENGINE = re.compile(r"(\S+) (started|stopped) (.+)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KINDS = ("gateway", "engine")
_SOMEBODY_ELSE = json.dumps(
    {"time": "1767225600.000", "request_time": "0.001", "status": "200", "tenant": "somebody else", "uri": "/"}
)
_NO_REQUEST = json.dumps(
    {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "startup", "traceId": "1" * 32, "spanId": "1" * 16}]}]}]}
)
_KEPT = "schema_migrations"


@dataclass(slots=True, kw_only=True)
class Heard:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


@dataclass(slots=True, kw_only=True)
class Play:
    """One script on an emptied store; `failures` are the expectations that did not hold."""

    path: Path
    store: Store
    folder: Path
    failures: list[str] = field(default_factory=list)
    _text: str = ""
    _versions: list[str] = field(default_factory=list)
    _traffic: Traffic = field(default_factory=Traffic)
    _covers: dict[str, list[Interval]] = field(default_factory=dict)
    _instants: dict[str, datetime] = field(default_factory=dict)
    _exclusions: dict[str, str] = field(default_factory=dict)
    _heard: Heard | None = None
    _files: int = 0
    _probes: int = 0

    def run(self, statements: Sequence[Statement]) -> None:
        """Play all statements; raises ScriptError for one that cannot be read or done."""
        self._empty_the_store()
        for statement in statements:
            try:
                getattr(self, f"_do_{statement.keyword}")(statement)
            except KeyError as error:
                raise ScriptError(self.path, statement.line, f"names nothing known ({error})") from error
            except ValueError as error:
                raise ScriptError(self.path, statement.line, str(error)) from error

    def _empty_the_store(self) -> None:
        for (name,) in self.store.rows(
            Query(
                sql="SELECT name FROM system.tables WHERE database = currentDatabase() AND total_rows > 0"
                " AND name != {kept:String}",
                parameters={"kept": _KEPT},
            )
        ):
            self.store.execute(Query(sql=f"TRUNCATE TABLE {name}"))

    # what the contract says

    def _do_contract(self, statement: Statement) -> None:
        self._replace(contracts.GOOD, statement)

    def _do_instead(self, statement: Statement) -> None:
        if not self._versions:
            raise ValueError("follows no contract")
        self._replace(self._text, statement)

    def _replace(self, base: str, statement: Statement) -> None:
        for path in self._contracts.iterdir():
            path.unlink()
        self._versions = []
        self._add_version(base, statement)

    def _do_version(self, statement: Statement) -> None:
        if not self._versions:
            raise ValueError("follows no contract")
        self._add_version(self._text, statement)

    def _add_version(self, base: str, statement: Statement) -> None:
        without = re.fullmatch(r"(?:without (.+))?", statement.words)
        if without is None:
            raise ValueError(f"is followed by {statement.words}; write nothing, or without CLAUSE, CLAUSE")
        self._text = contracts.changed(base, statement.block, without=without[1] or "")
        self._versions.append(self._text)
        (self._contracts / f"{len(self._versions)}.yaml").write_text(self._text, encoding="utf-8")

    @property
    def _contracts(self) -> Path:
        path = self.folder / "contracts"
        path.mkdir(exist_ok=True)
        return path

    @property
    def _newest(self) -> Path:
        if not self._versions:
            raise ValueError("needs a contract above it")
        return self._contracts / f"{len(self._versions)}.yaml"

    @property
    def _zone(self) -> str:
        return contracts.zone_of(self._text or contracts.GOOD)

    # what happened

    def _do_covers(self, statement: Statement) -> None:
        first, _, rest = statement.words.partition(" ")
        kinds, text = ((first,), rest) if first in _KINDS else (_KINDS, statement.words)
        for kind in kinds:
            start, end = interval(text, self._zone)
            self._covers.setdefault(kind, []).append(Interval(start=start, end=end))

    def _do_load(self, statement: Statement) -> None:
        match = _LOAD.fullmatch(statement.head)
        if match is None:
            raise ValueError(f"loads nothing ({statement.head})")
        kind = read_kind(statement.facts)
        received = instant(match["at"], self._zone)
        step = timedelta(microseconds=duration_us(match["every"] or "0s"))
        for number in range(int(match["times"] or 1)):
            self._traffic.add(kind, received + number * step)

    def _flush(self) -> None:
        """Let the ingest command read what was said since it last did."""
        lines, spans = self._traffic.take()
        covers, self._covers = self._covers, {}
        if "gateway" in covers and not lines:
            lines = [_SOMEBODY_ELSE]  # a log that was read through, without a line of the contract's
        if "engine" in covers and not spans:
            spans = [_NO_REQUEST]
        for kind, texts in (("gateway", lines), ("engine", spans)):
            if not texts:
                continue
            self._files += 1
            path = self.folder / f"{self._files}.{kind}.jsonl"
            path.write_text("\n".join(texts) + "\n", encoding="utf-8")
            for through in covers.get(kind) or [None]:
                self._ingest(kind, path, covers=through)

    def _ingest(self, kind: str, path: Path, *, covers: Interval | None = None) -> None:
        """Read a file as ``fairclock ingest`` does; without `covers` it covers its first to its last event."""
        read = read_gateway_files if kind == "gateway" else read_otlp_files
        (reading,) = read(self.store, [str(path)], source=kind, covers=covers)
        if reading.problem or reading.counts.dead_letters:
            raise ValueError(f"{path.name} could not be read: {reading.problem or reading.counts}")

    def _do_again(self, _: Statement) -> None:
        """Let the ingest command read every file that it has read once more."""
        self._flush()
        for path in sorted(self.folder.glob("*.jsonl")):
            _, kind, _ = path.name.split(".")
            self._ingest(kind, path)

    def _do_remember(self, statement: Statement) -> None:
        self._flush()
        self._instants[statement.words] = self.store.watermark()

    def _do_seal(self, _: Statement) -> None:
        self._flush()
        self.store.seal(None)

    def _do_probe(self, statement: Statement) -> None:
        at = instant(statement.head, self._zone)
        (outcome,) = statement.facts
        self._probes += 1
        probe = Probe(
            id=f"probe-{self._probes}",
            target="https://llm.example.com",
            outcome=ProbeOutcome(outcome),
            intended_at=at,
            sent_at=at,
        )
        keep_probes(self.store, [probe])

    def _do_engine(self, statement: Statement) -> None:
        match = _ENGINE.fullmatch(statement.words)
        if match is None:
            raise ValueError(f"is not NAME started INSTANT, nor stopped ({statement.words})")
        name, event, at = match.groups()
        nanoseconds = (instant(at, self._zone) - _EPOCH) // timedelta(microseconds=1) * 1_000
        line = {"event": event, "at_ns": str(nanoseconds), "instance": name, "engine_rank": 0}
        batch = LineBatch(kind="engine_state", source="plugin", lines=[json.dumps(line).encode()])
        if self.store.ingest(batch).stored != 1:
            raise ValueError("was not stored")

    # what was agreed

    def _do_exclude(self, statement: Statement) -> None:
        match = _EXCLUDE.fullmatch(statement.head)
        if match is None:
            raise ValueError(f"is not CLAUSE as NAME ({statement.head})")
        when, *facts = statement.facts
        start, dots, end = (part.strip() for part in when.partition(".."))
        words = ["--clause", match["clause"], "--from", self._instant(start)]
        words += ["--to", self._instant(end)] if dots else []
        words += ["--author", "provider", "--reason", "scripted"]
        answers: list[str] = []
        expired = False
        for fact in facts:
            word, _, said = fact.partition(" ")
            if word == "notice":
                words += ["--notice-at", self._instant(said)]
            elif word in ("told", "every", "except", "evidence"):
                option = {"told": "--notice-to", "every": "--recurrence"}.get(word, f"--{word}")
                words += [option, said]
            elif word in ("accepted", "disputed", "revoked") and not said:
                answers.append(word)
            elif word == "unanswered" and not said:
                expired = True
            else:
                raise ValueError(f"says nothing known of an exclusion ({fact})")
        heard = self._command("exclusions", "add", "--json", "--contract", self._newest, *words)
        self._exclusions[match["name"]] = json.loads(heard.out)["id"]
        if expired:
            self._let_expire(self._exclusions[match["name"]])
        for answer in answers:
            self._answer(match["name"], answer)

    def _let_expire(self, id_: str) -> None:
        """Say the proposal again as one that had to be answered by its own start: no command enters such a one."""
        (said,) = [
            each for each in exclusion_entries(self.store, as_of=self.store.watermark()) if each.id == id_
        ]
        self.store.execute(Query(sql="ALTER TABLE exclusions DELETE WHERE id = {id:String}", parameters={"id": id_}))
        keep_exclusion(self.store, replace(said, answer_by=said.starts_at, stored_at=None))

    def _answer(self, name: str, answer: str) -> None:
        id_ = self._exclusions[name]
        customer, said = ("--author", "customer"), ("--comment", "scripted")
        if answer == "accepted":
            self._command("exclusions", "accept", id_, *customer, "--evidence", "mail")
        elif answer == "disputed":
            self._command("exclusions", "dispute", id_, *customer, *said)
        elif answer == "revoked":
            self._command("exclusions", "revoke", id_, "--author", "provider", *said)

    def _do_accept(self, statement: Statement) -> None:
        self._answer(statement.words, "accepted")

    def _do_dispute(self, statement: Statement) -> None:
        self._answer(statement.words, "disputed")

    def _do_revoke(self, statement: Statement) -> None:
        self._answer(statement.words, "revoked")

    # what comes of it

    def _do_lint(self, _: Statement) -> None:
        self._heard = self._said("contract", "lint", "--json", self._newest)

    def _do_evaluate(self, statement: Statement) -> None:
        match = _EVALUATE.fullmatch(statement.words)
        if match is None:
            raise ValueError(f"is not a month ({statement.words}); write 2026-03, or 2026-03 as of NAME")
        self._flush()
        source = self._newest if len(self._versions) == 1 else self._contracts
        as_of = self._instants[match["name"]] if match["name"] else None
        try:
            versions = load_versions(source)
            for contract in versions:
                require_lintable(contract)
            report = evaluate(
                self.store, versions, month=match["month"], as_of=as_of, software_version=__version__
            )
        except FairclockError as error:
            self._heard = Heard(code=error.exit_code, out="", err=str(error))
        else:
            self._heard = Heard(code=exit_code(report), out=report_json(report).decode(), err="")

    def _do_expect(self, statement: Statement) -> None:
        if self._heard is None:
            raise ValueError("follows no evaluate and no lint")
        found = expecting.differences(
            statement, code=self._heard.code, out=self._heard.out, err=self._heard.err, names=self._exclusions
        )
        self.failures += [f"{self.path}:{statement.line}: {each}" for each in found]

    def _command(self, *words: object) -> Heard:
        heard = self._said(*words)
        if heard.code:
            raise ValueError(f"fairclock {' '.join(map(str, words))} ended with {heard.code}: {heard.err}")
        return heard

    def _said(self, *words: object) -> Heard:
        out, err, code = io.StringIO(), io.StringIO(), 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main([*map(str, words), "--dsn", self.store.dsn])
            except SystemExit as end:
                code = int(end.code or 0)
        return Heard(code=code, out=out.getvalue(), err=err.getvalue())

    def _instant(self, text: str) -> str:
        return _iso(instant(text, self._zone))


def _iso(value: datetime) -> str:
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
