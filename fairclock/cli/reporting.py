"""Own the run of ``fairclock report`` over many contracts: one reads the store, others draw, all failures are told."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fairclock.errors import FairclockError, UsageError
from sla.reports.batch import Batch, Drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sla.reports.batch import Drawing

_EXIT_WRONG, _EXIT_VIOLATED, _EXIT_NOT_EVALUATED = 2, 1, 3


@dataclass(slots=True)
class Outcome:
    """What became of each contract, by its place among those asked for."""

    codes: list[int] = field(default_factory=list)
    paths: dict[int, Sequence[Path]] = field(default_factory=dict)
    errors: dict[int, FairclockError] = field(default_factory=dict)

    def exit_code(self) -> int:
        """Return 2 where a report is missing for what is wrong; else 1 for a broken promise, else 3, else 0."""
        codes = {*self.codes, *(error.exit_code for error in self.errors.values())}
        order = (_EXIT_WRONG, _EXIT_VIOLATED, _EXIT_NOT_EVALUATED)
        return next((code for code in order if code in codes), 0)


def report_many(
    contracts: Sequence[Path],
    evaluated: Callable[[Path], Mapping[str, Any]],
    *,
    drawing: Drawing,
    jobs: int,
    code_of: Callable[[Mapping[str, Any]], int],
    quiet: bool,
) -> int:
    """Evaluate and write the reports of `contracts`, print their paths in that order, and return the exit code."""
    outcome = Outcome()
    with _progress(len(contracts), quiet=quiet) as advance:

        def tell(drawn: Drawn) -> None:
            if drawn.error is None:
                outcome.paths[drawn.key] = drawn.paths
            else:
                outcome.errors[drawn.key] = drawn.error
            advance()

        ids: dict[str, Path] = {}
        with Batch(drawing=drawing, jobs=min(jobs, len(contracts)), tell=tell) as batch:
            for key, path in enumerate(contracts):
                try:
                    report = evaluated(path)
                    _check_apart(ids, str(report["contract"]["id"]), path)
                except FairclockError as error:
                    tell(Drawn(key=key, error=error))
                    continue
                outcome.codes.append(code_of(report))
                batch.draw(key, report)
    for _, paths in sorted(outcome.paths.items()):
        for path in paths:
            click.echo(str(path))
    if outcome.errors:
        click.echo(f"{len(outcome.errors):,} of {len(contracts):,} reports were not written:", err=True)
        for key, why in sorted(outcome.errors.items()):
            said, name = str(why), str(contracts[key])
            click.echo(f"  {said if said.startswith(name) else f'{name}: {said}'}", err=True)
    return outcome.exit_code()


def _check_apart(ids: dict[str, Path], contract: str, path: Path) -> None:
    """Refuse a second contract of one id: its files would take the place of the first one's."""
    first = ids.setdefault(contract, path)
    if first != path:
        raise UsageError(
            str(path),
            "another contract of this run has its id",
            found=f"{contract}, in {first}",
            remedy="name a folder that holds both, if they are versions of one contract",
        )


@contextmanager
def _progress(count: int, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """Show a bar on a terminal; yield what to call as each report is done."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reports", total=count)
        yield lambda: bar.advance(task)
