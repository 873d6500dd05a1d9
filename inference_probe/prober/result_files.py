"""Own a run on the disk: a header line and a line a probe, from which all that is published of the run follows."""

from __future__ import annotations

import errno
import json
import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairclock.errors import FairclockError, InputError
from inference_probe.prober.observations import Observation, observation_tree, read_observation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

SCHEMA = "fairclock.probes/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A run. header: how it was asked, `started_at` (epoch, of instant 0) and the prober's measure of itself."""

    header: Mapping[str, Any]
    seen: Sequence[Observation]

    @property
    def mode(self) -> str:
        """Return what kind of run it was."""
        return str(self.header.get("mode", ""))

    @property
    def stages(self) -> Sequence[Mapping[str, Any]]:
        """Return what is said of each stage."""
        found: Sequence[Mapping[str, Any]] = self.header.get("stages", ())
        return found

    def of_stage(self, number: int) -> list[Observation]:
        """Return the probes of one stage."""
        return [each for each in self.seen if each.stage == number]


def check_writable(path: Path) -> None:
    """Raise FairclockError where a run's file could not be written: it is known before the run, not after it."""
    with _writing(path) as partial:
        partial.write_bytes(b"")
        partial.unlink()
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))


def write_result(path: Path, result: Result) -> None:
    """Write a run, whole or not at all."""
    lines = ({"schema": SCHEMA, **result.header}, *map(observation_tree, result.seen))
    with _writing(path) as partial:
        with partial.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(each, ensure_ascii=False, allow_nan=False) + "\n" for each in lines)
        os.replace(partial, path)  # noqa: PTH105 - one step


@contextmanager
def _writing(path: Path) -> Iterator[Path]:
    """Give the file beside `path` that is written first; a half of it does not stay."""
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise FairclockError(
            str(path), "the result cannot be written", found=error.strerror, remedy="name another file by -o"
        ) from error


def read_result(path: Path) -> Result:
    """Return the run in a file; raises InputError where there is none, or a line is not what it should be."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            str(path), "the result cannot be read", found=str(error), remedy="name a file that -o wrote"
        ) from error
    # lines are the writer's own: a header of the service may have other characters that end one
    lines = text.removesuffix("\n").split("\n")
    number = 1
    try:
        header = json.loads(lines[0])
        if header.get("schema") != SCHEMA:
            raise InputError(
                str(path),
                "not the result of a probe run",
                found=str(header.get("schema"))[:40],
                remedy="name a file that `fairclock probe run -o` wrote",
            )
        seen = []
        for number, line in enumerate(lines[1:], start=2):  # noqa: B007 - the error names it
            seen.append(read_observation(json.loads(line)))
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
        raise InputError(
            f"{path}:{number}", "not a line of a probe run", found=str(error)[:120], remedy="run it again"
        ) from error
    return Result(header=header, seen=seen)
