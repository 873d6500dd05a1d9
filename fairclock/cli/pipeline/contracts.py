"""Own the contracts that a long-running command judges by: read at its start, and again where their files change."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exporters.prometheus import Figure
from fairclock.errors import ContractError
from sla.contracts.versions import contract_files, load_versions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from sla.contracts import Contract

_LOG = logging.getLogger(__name__)
_Seen = tuple[tuple[str, int, int, int, int], ...]


@dataclass(slots=True, kw_only=True)
class _Followed:
    path: Path
    versions: list[Contract]
    seen: _Seen
    problem: str = ""
    failures: int = 0


@dataclass(slots=True)
class FollowedContracts:
    """The contracts under ``sla.contracts``; `step` looks at their files.

    What a broken file last said stays in force, and so does that of a file which is gone: to end a contract is
    to end its term, or to take it out of the configuration.
    """

    _followed: list[_Followed] = field(default_factory=list)

    @classmethod
    def reading(cls, paths: Sequence[Path]) -> FollowedContracts:
        """Read every contract; ContractError names what is wrong with one, so that nothing goes unjudged."""
        found = []
        for path in paths:
            seen = _look(path)
            found.append(_Followed(path=path, versions=load_versions(path), seen=seen))
        return cls(found)

    @property
    def current(self) -> list[list[Contract]]:
        """Return the versions of each contract, as they were last read well."""
        return [each.versions for each in self._followed]

    @property
    def problems(self) -> dict[Path, str]:
        """Return what is wrong with the files that could not be read again."""
        return {each.path: each.problem for each in self._followed if each.problem}

    def step(self, now: datetime) -> None:
        """Read again what changed; costs a stat of each file where nothing did."""
        del now
        for each in self._followed:
            # looked at before it is read: a change meanwhile is seen by the next pass
            seen = _look(each.path)
            if seen != each.seen:
                each.seen = seen
                self._read_again(each)

    def figures(self) -> Iterator[Figure]:
        """Yield which contracts are judged by an earlier version of their file, because it is broken."""
        for each in self._followed:
            labels = {"path": str(each.path)}
            yield Figure(
                name="fairclock_contract_file_broken",
                about="1 while a contract's file is broken or gone, and what it said before stays in force.",
                value=bool(each.problem), labels=labels,
            )  # fmt: skip
            yield Figure(
                name="fairclock_contract_versions", about="Versions of a contract that are judged by.",
                value=len(each.versions), labels=labels,
            )  # fmt: skip

    def _read_again(self, followed: _Followed) -> None:
        try:
            versions = load_versions(followed.path)
        except (ContractError, OSError) as error:
            if str(error) != followed.problem:
                _LOG.warning("what it said before stays in force: %s", error)
            followed.problem = str(error)
            return
        before = {each.version_sha256 for each in followed.versions}
        after = {each.version_sha256 for each in versions}
        if before != after or followed.problem:
            _LOG.info("read %s again: %s", followed.path, _difference(before, after))
        followed.versions, followed.problem = versions, ""


def _difference(before: set[str], after: set[str]) -> str:
    new, gone = sorted(after - before), sorted(before - after)
    parts = [f"version {each[:12]} is in force" for each in new] + [
        f"{each[:12]} is not any more" for each in gone
    ]
    return ", ".join(parts) or "it says what it said before"


def _look(path: Path) -> _Seen:
    """Return what tells one state of a contract's files from another."""
    seen: list[tuple[str, int, int, int, int]] = []
    try:
        files = contract_files(path)
    except OSError as error:
        return ((str(path), -1, error.errno or 0, 0, 0),)
    for file in files:
        try:
            found = file.stat()
        except OSError as error:
            seen.append((str(file), -1, error.errno or 0, 0, 0))
        else:
            seen.append((str(file), found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))
    return tuple(seen)
