"""Own how a file becomes a contract, or the list of everything that keeps it from being one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from fairclock.clauses.source import Source, Unreadable, read_source
from fairclock.clauses.validation import without_repeats
from fairclock.errors import ContractError
from sla.contracts.clause_examples import CONTRACT_FILE
from sla.contracts.consistency import inconsistencies
from sla.contracts.lint import lint_examination
from sla.contracts.validation import validate

if TYPE_CHECKING:
    import os

    from fairclock.clauses.problems import Problem
    from sla.contracts.contract import Contract


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What a file turned out to be: a contract, or problems, with the lines they stand in."""

    where: str
    contract: Contract | None
    problems: tuple[Problem, ...]
    source: Source


def load_contract(path: str | os.PathLike[str]) -> Contract:
    """Read the contract in a file; ContractError names every problem it has, not the first."""
    where = str(path)
    return parse_contract(read_file(path), where=where)


def parse_contract(content: bytes | str, *, where: str = "contract") -> Contract:
    """Read a contract from the file's bytes; ContractError names every problem."""
    examination = examine(content, where=where)
    if examination.contract is None:
        errors = [each for each in lint_examination(examination) if each.severity == "error"]
        raise ContractError(where, [each.plain() for each in errors])
    return examination.contract


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Return a file's bytes; ContractError if there are none to be had."""
    where = str(path)
    try:
        return FilePath(path).read_bytes()
    except FileNotFoundError as error:
        raise ContractError(where, ["there is no such file; check the path"]) from error
    except IsADirectoryError as error:
        raise ContractError(where, ["this is a directory; name the contract's file in it"]) from error
    except PermissionError as error:
        raise ContractError(where, ["the file may not be read; check its permissions"]) from error
    except (OSError, ValueError) as error:
        raise ContractError(where, [f"the file cannot be read ({error}); check the path"]) from error


def examine(content: bytes | str, *, where: str = "contract") -> Examination:
    """Find out whether bytes are a contract; ContractError only where they are no YAML mapping at all."""
    raw = content.encode() if isinstance(content, str) else content
    try:
        source = read_source(raw, CONTRACT_FILE)
    except Unreadable as error:
        raise ContractError(where, [error.sentence()]) from error
    contract, problems = validate(source.tree)
    problems = without_repeats([*source.problems, *inconsistencies(source.tree), *problems])
    problems.sort(key=lambda problem: (source.line_of(problem.path) or 0, str(problem.path)))
    if contract is not None:
        contract._version_sha256 = hashlib.sha256(raw).hexdigest()  # noqa: SLF001
        contract._source_path = where  # noqa: SLF001
    return Examination(
        where=where, contract=None if problems else contract, problems=tuple(problems), source=source
    )
