"""Own what scripts say of excluded time: proposed, answered and taken back by the commands that people use."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fairclock.store import Query
from fairclock.store.remedies import exclusion_entries, keep_exclusion
from tests.scripted.commands import done
from tests.scripted.quantities import instant, iso

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.store import Store
    from tests.scripted.language import Statement

_EXCLUDE = re.compile(r"(?P<clause>\w+) as (?P<name>\w+)")
_OPTIONS = {"told": "--notice-to", "every": "--recurrence", "except": "--except", "evidence": "--evidence"}
_CUSTOMER = ("--author", "customer")
_ANSWERS = {
    "accepted": ("accept", *_CUSTOMER, "--evidence", "mail"),
    "disputed": ("dispute", *_CUSTOMER, "--comment", "scripted"),
    "revoked": ("revoke", "--author", "provider", "--comment", "scripted"),
}


@dataclass(slots=True, kw_only=True)
class Agreements:
    """The exclusions of a script; `ids` by the names that it gives them."""

    store: Store
    ids: dict[str, str] = field(default_factory=dict)

    def propose(self, statement: Statement, *, contract: Path, zone: str) -> None:
        """Propose an exclusion, and answer it where the statement says how; raises ValueError."""
        match = _EXCLUDE.fullmatch(statement.head)
        if match is None:
            raise ValueError(f"is not CLAUSE as NAME ({statement.head})")
        when, *facts = statement.facts
        start, dots, end = (part.strip() for part in when.partition(".."))
        words = ["--clause", match["clause"], "--from", iso(instant(start, zone))]
        words += ["--to", iso(instant(end, zone))] if dots else []
        words += ["--author", "provider", "--reason", "scripted"]
        answers: list[str] = []
        for fact in facts:
            word, _, said = fact.partition(" ")
            if word == "notice":
                words += ["--notice-at", iso(instant(said, zone))]
            elif word in _OPTIONS:
                words += [_OPTIONS[word], said]
            elif fact in _ANSWERS or fact == "unanswered":
                answers.append(fact)
            else:
                raise ValueError(f"says nothing known of an exclusion ({fact})")
        heard = done(self.store, "exclusions", "add", "--json", "--contract", contract, *words)
        self.ids[match["name"]] = json.loads(heard.out)["id"]
        for answer in answers:
            self.answer(match["name"], answer)

    def answer(self, name: str, answer: str) -> None:
        """Say `answer` to the exclusion with this name; raises KeyError for one that there is not."""
        if answer == "unanswered":
            self._let_expire(self.ids[name])
            return
        verb, *words = _ANSWERS[answer]
        done(self.store, "exclusions", verb, self.ids[name], *words)

    def _let_expire(self, id_: str) -> None:
        """Put a proposal in its place that had to be answered by its own start: no command enters such a one."""
        entries = exclusion_entries(self.store, as_of=self.store.watermark())
        (said,) = (each for each in entries if each.id == id_)
        self.store.execute(
            Query(
                sql="DELETE FROM exclusions WHERE id = {id:String}",
                parameters={"id": id_},
            )
        )
        keep_exclusion(self.store, replace(said, answer_by=said.starts_at, stored_at=None))
