"""Own the versions of one contract: several files of one id, and which of them is in force when.

A version is in force from its term's first day. The version that begins next supersedes it for good, also
where that one ends earlier.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from fairclock.errors import ContractError
from fairclock.model import Interval
from sla.calendars import day_start
from sla.contracts.loading import load_contract

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from sla.contracts.contract import Contract

_ENDINGS = frozenset({".yaml", ".yml"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version, and when it is in force."""

    contract: Contract
    in_force: Interval


def contract_files(path: str | os.PathLike[str]) -> list[Path]:
    """Return the files that `load_versions` reads: the one named, whether it is there or not, or those in a folder."""
    folder = Path(path)
    if not folder.is_dir():
        return [folder]
    return sorted(each for each in folder.iterdir() if each.suffix in _ENDINGS and each.is_file())


def load_versions(path: str | os.PathLike[str]) -> list[Contract]:
    """Read the contract in a file, or all versions of one contract in a folder; ContractError if they disagree."""
    folder = Path(path)
    if not folder.is_dir():
        return [load_contract(path)]
    files = contract_files(folder)
    if not files:
        raise ContractError(
            str(path), ["the folder holds no contract; name a .yaml file, or a folder of them"]
        )
    return [version.contract for version in versions_of([load_contract(file) for file in files])]


def versions_of(contracts: Sequence[Contract]) -> list[Version]:
    """Return the versions in the order of their terms, each cut where the next one begins.

    ContractError where they are not versions of one contract: their ids, time zones or kinds of month differ,
    or two of them begin on one day.
    """
    ordered = sorted(contracts, key=lambda contract: (contract.term.first_day, contract.version_sha256))
    problems = [problem for earlier, later in pairwise(ordered) for problem in _disagreements(earlier, later)]
    if problems:
        raise ContractError(ordered[0].source_path, problems)
    starts = [day_start(contract.term.first_day, contract.zone) for contract in ordered]
    ends = [day_start(contract.term.last_day + timedelta(days=1), contract.zone) for contract in ordered]
    return [
        Version(
            contract=contract,
            in_force=Interval(start=start, end=min([end, *starts[place + 1 :]])),
        )
        for place, (contract, start, end) in enumerate(zip(ordered, starts, ends, strict=True))
    ]


def version_in_force(contracts: Sequence[Contract], instant: datetime) -> Contract | None:
    """Return the version that is in force at `instant`; None where none is. Raises as `versions_of` does."""
    return next(
        (
            each.contract
            for each in versions_of(contracts)
            if each.in_force.start <= instant < each.in_force.end
        ),
        None,
    )


def _disagreements(earlier: Contract, later: Contract) -> Iterable[str]:
    where = f"{later.source_path} and {earlier.source_path}"
    if later.id != earlier.id:
        yield f"{where} are two contracts ({later.id}, {earlier.id}); keep the versions of one in a folder"
    elif later.version_sha256 == earlier.version_sha256:
        yield f"{where} are one version twice; keep one of them"
    elif later.term.first_day == earlier.term.first_day:
        yield f"{where} both begin on {later.term.first_day}; begin the later version when it takes effect"
    elif (later.term.time_zone, later.period.month) != (earlier.term.time_zone, earlier.period.month):
        yield f"{where} count months differently; keep term.time_zone and period.month the same"
    elif later.period.month == "anniversary" and later.term.first_day.day != earlier.term.first_day.day:
        yield f"{where} have other anniversaries; let each version begin on the same day of a month"
