"""Own the playing of a script: each statement by the product's own means, each expectation against what came of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairclock import __version__
from fairclock.cli.report import exit_code
from fairclock.errors import FairclockError
from fairclock.store import Query
from sla.contracts import require_lintable
from sla.contracts.versions import load_versions
from sla.evaluation import evaluate
from sla.reports import report_json
from tests.scripted import contracts, expecting
from tests.scripted.agreements import Agreements
from tests.scripted.commands import Heard, said
from tests.scripted.language import ScriptError
from tests.scripted.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from fairclock.store import Store
    from tests.scripted.language import Statement

_EVALUATE = re.compile(r"(?P<month>\d{4}-\d{2})(?: as of (?P<name>\w+))?")
_KEPT = "schema_migrations"


@dataclass(slots=True, kw_only=True)
class Play:
    """One script on an emptied store; `failures` are the expectations that did not hold."""

    path: Path
    store: Store
    folder: Path
    failures: list[str] = field(default_factory=list)
    _versions: list[str] = field(default_factory=list)
    _instants: dict[str, datetime] = field(default_factory=dict)
    _heard: Heard | None = None
    _sources: Sources = field(init=False)
    _agreements: Agreements = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing said."""
        self._sources = Sources(store=self.store, folder=self.folder)
        self._agreements = Agreements(store=self.store)

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
        filled = Query(
            sql="SELECT name FROM system.tables WHERE database = currentDatabase() AND total_rows > 0"
            " AND name != {kept:String}",
            parameters={"kept": _KEPT},
        )
        for (name,) in self.store.rows(filled):
            self.store.execute(Query(sql=f"TRUNCATE TABLE {name}"))

    # what the contract says

    def _do_contract(self, statement: Statement) -> None:
        self._replace(contracts.GOOD, statement)

    def _do_instead(self, statement: Statement) -> None:
        self._replace(self._said_last, statement)

    def _do_version(self, statement: Statement) -> None:
        self._add_version(self._said_last, statement)

    def _replace(self, base: str, statement: Statement) -> None:
        for path in self._contracts.iterdir():
            path.unlink()
        self._versions = []
        self._add_version(base, statement)

    def _add_version(self, base: str, statement: Statement) -> None:
        without = re.fullmatch(r"(?:without (.+))?", statement.words)
        if without is None:
            raise ValueError(f"is followed by {statement.words}; write nothing, or without CLAUSE, CLAUSE")
        self._versions.append(contracts.changed(base, statement.block, without=without[1] or ""))
        self._newest.write_text(self._said_last, encoding="utf-8")

    @property
    def _said_last(self) -> str:
        if not self._versions:
            raise ValueError("follows no contract")
        return self._versions[-1]

    @property
    def _contracts(self) -> Path:
        path = self.folder / "contracts"
        path.mkdir(exist_ok=True)
        return path

    @property
    def _newest(self) -> Path:
        if not self._versions:
            raise ValueError("follows no contract")
        return self._contracts / f"{len(self._versions)}.yaml"

    @property
    def _zone(self) -> str:
        return contracts.zone_of(self._versions[-1] if self._versions else contracts.GOOD)

    # what happened

    def _do_covers(self, statement: Statement) -> None:
        self._sources.cover(statement, self._zone)

    def _do_load(self, statement: Statement) -> None:
        self._sources.load(statement, self._zone)

    def _do_again(self, _: Statement) -> None:
        self._sources.read_again()

    def _do_probe(self, statement: Statement) -> None:
        self._sources.probe(statement, self._zone)

    def _do_engine(self, statement: Statement) -> None:
        self._sources.engine(statement, self._zone)

    def _do_remember(self, statement: Statement) -> None:
        self._sources.store_all()
        self._instants[statement.words] = self.store.watermark()

    def _do_seal(self, _: Statement) -> None:
        self._sources.store_all()
        self.store.seal(None)

    # what was agreed

    def _do_exclude(self, statement: Statement) -> None:
        self._agreements.propose(statement, contract=self._newest, zone=self._zone)

    def _do_accept(self, statement: Statement) -> None:
        self._agreements.answer(statement.words, "accepted")

    def _do_dispute(self, statement: Statement) -> None:
        self._agreements.answer(statement.words, "disputed")

    def _do_revoke(self, statement: Statement) -> None:
        self._agreements.answer(statement.words, "revoked")

    # what comes of it

    def _do_lint(self, _: Statement) -> None:
        self._heard = said(self.store, "contract", "lint", "--json", self._newest)

    def _do_evaluate(self, statement: Statement) -> None:
        match = _EVALUATE.fullmatch(statement.words)
        if match is None:
            raise ValueError(f"is not a month ({statement.words}); write 2026-03, or 2026-03 as of NAME")
        as_of = self._instants[match["name"]] if match["name"] else None
        self._sources.store_all()
        self._heard = self._report(match["month"], as_of)

    def _report(self, month: str, as_of: datetime | None) -> Heard:
        """Make a report as its command does."""
        try:
            versions = load_versions(self._newest if len(self._versions) == 1 else self._contracts)
            for contract in versions:
                require_lintable(contract)
            report = evaluate(self.store, versions, month=month, as_of=as_of, software_version=__version__)
        except FairclockError as error:
            return Heard(code=error.exit_code, out="", err=str(error))
        return Heard(code=exit_code(report), out=report_json(report).decode(), err="")

    def _do_expect(self, statement: Statement) -> None:
        if self._heard is None:
            raise ValueError("follows no evaluate and no lint")
        found = expecting.differences(
            statement,
            code=self._heard.code,
            out=self._heard.out,
            err=self._heard.err,
            names=self._agreements.ids,
        )
        self.failures += [f"{self.path}:{statement.line}: {each}" for each in found]
