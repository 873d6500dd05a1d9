"""Own the one exception tree.

::

    FairclockError                exit 2; ``where: what was wrong (what was found); what to do``
    ├── UsageError                the command line asks for something that cannot be
    ├── ConfigurationError        fairclock.yaml
    ├── ClausesError              a file made of clauses, with every problem it has
    │   ├── ContractError         a contract file
    │   └── PriceBookError        a price book
    ├── InputError                a log, a span file, anything that is read
    ├── StoreError                the store as a whole
    │   ├── StoreUnreachable      nobody answers
    │   ├── StoreNewer            the schema is newer than this program
    │   └── StoreReadOnly         the folder or the server takes no writes
    ├── SpoolError                the spool as a whole
    │   ├── SpoolFull             its limit is reached; what is in it must be delivered first
    │   └── SpoolUnavailable      its disk is full or failing; nothing more can be kept
    ├── DocumentError             fonts, templates, PDF
    ├── NotShown                  the console has nothing of that name for who asks
    ├── NotAllowed                who asks the console may not do that
    ├── TooBusy                   an answer takes longer than one may wait for it
    └── NotEvaluable              exit 3; the question is right but cannot be answered

A broken promise, missing data and unbillable usage are values, never exceptions.
"""

from __future__ import annotations

from typing import Any, ClassVar


def _empty(kind: type[Exception], *words: object) -> Exception:
    """Return an error without its parts, which follow."""
    return kind.__new__(kind, *words)


class FairclockError(Exception):
    """Say where something is wrong, what was found there, and what to do.

    ``str()`` gives ``where: problem (found); remedy`` with the parts that are known.
    """

    exit_code: ClassVar[int] = 2

    def __init__(
        self, where: str, problem: str, *, found: str | None = None, remedy: str | None = None
    ) -> None:
        """Keep the four parts apart, so that ``--json`` can print them apart."""
        self.where = where
        self.problem = problem
        self.found = found
        self.remedy = remedy
        super().__init__(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        """Let it cross from one process to another with all its parts."""
        return _empty, (type(self), *self.args), self.__dict__

    def __str__(self) -> str:
        """Return the one sentence that a person reads."""
        found = f" ({self.found})" if self.found else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.where}: {self.problem}{found}{remedy}"


class UsageError(FairclockError):
    """A command line that asks for something that cannot be."""


class ConfigurationError(FairclockError):
    """A configuration file, or a value in it, that cannot be used."""


class ClausesError(FairclockError):
    """A file made of clauses that cannot be used; `problems` lists each one as a sentence."""

    def __init__(self, where: str, problems: list[str]) -> None:
        """Join all `problems`, a line each."""
        self.problems = problems
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__(where, f"{count}\n" + "\n".join(f"  {problem}" for problem in problems))


class ContractError(ClausesError):
    """A contract file that cannot be used."""


class PriceBookError(ClausesError):
    """A price book that cannot be used."""


class InputError(FairclockError):
    """A file or stream that could not be read as what it was said to be."""


class StoreError(FairclockError):
    """The store refused, or its folder or server is not in a state to work with."""


class StoreUnreachable(StoreError):
    """Nobody answers at the store's address."""


class StoreNewer(StoreError):
    """The store's schema was written by a newer Fairclock."""


class StoreReadOnly(StoreError):
    """The store's folder or server takes no writes."""


class SpoolError(FairclockError):
    """The spool's folder is not in a state to work with."""


class SpoolFull(SpoolError):
    """The spool holds as much as it may; there is room again once some of it was delivered."""


class SpoolUnavailable(SpoolError):
    """The spool's disk is full or failing, so that nothing more can be kept; what is kept stays."""


class DocumentError(FairclockError):
    """A document could not be set: fonts, templates or the PDF itself."""


class NotShown(FairclockError):
    """There is nothing of that name, as far as whoever asks may know."""


class NotAllowed(FairclockError):
    """Whoever asks may not do that."""


class TooBusy(FairclockError):
    """An answer takes longer than one may wait for it, or too many are waited for; it may be asked again."""


class NotEvaluable(FairclockError):
    """The question is well put, but the data to answer it is not there."""

    exit_code = 3
