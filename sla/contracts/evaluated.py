"""Own what this version accepts in a contract but does not evaluate, so that a report can say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sla.contracts.contract import Contract


def paths_not_evaluated(contract: Contract) -> list[str]:
    """Return the paths of the clauses that no verdict rests on yet, in the file's order."""
    return [*_of_frame(contract), *_of_objectives(contract), *_of_remedies(contract)]


def _of_frame(contract: Contract) -> Iterator[str]:
    if contract.retries.with_backoff is not None:
        yield "retries.with_backoff"


def _of_objectives(contract: Contract) -> Iterator[str]:
    for number, objective in enumerate(contract.objectives):
        if not objective.evaluated:
            yield f"objectives[{number}]"


def _of_remedies(contract: Contract) -> Iterator[str]:
    for number, level in enumerate(contract.quality.levels if contract.quality else ()):
        if level.credit is not None:
            yield f"quality.levels[{number}].credit"
    for key in ("credits", "prices"):
        if getattr(contract, key) is not None:
            yield key
