"""Own a run on the disk: a header line and a line a probe, from which all that is published of the run follows."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairclock.errors import FairclockError, InputError
from inference_probe.prober.observations import Observation, observation_tree, read_observation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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


def write_result(path: Path, result: Result) -> None:
    """Write a run, whole or not at all."""
    lines = [{"schema": SCHEMA, **result.header}, *map(observation_tree, result.seen)]
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(
            "".join(json.dumps(each, ensure_ascii=False, allow_nan=False) + "\n" for each in lines),
            encoding="utf-8",
        )
        os.replace(partial, path)  # noqa: PTH105 - one step
    except OSError as error:
        raise FairclockError(
            str(path), "the result cannot be written", found=error.strerror, remedy="name another file by -o"
        ) from error


def read_result(path: Path) -> Result:
    """Return the run in a file; raises InputError where there is none, or a line is not what it should be."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), "the result cannot be read", found=str(error)) from error
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
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise InputError(
            f"{path}:{number}", "not a line of a probe run", found=str(error)[:120], remedy="run it again"
        ) from error
    return Result(header=header, seen=seen)
