"""Own what a checkpoint says, and how it is written as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from collectors.gateway.tailing.prints import Print, Prints
from collectors.gateway.tailing.shared_coverage import LogCoverage

if TYPE_CHECKING:
    from collectors.gateway.tailing.key_index import Stored
    from collectors.gateway.tailing.shared_coverage import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRecord:
    """One generation of a log: how it is recognised, how far it was read."""

    name: str
    identity: str
    device: int
    inode: int
    version: int | None
    largest_size: int
    mtime_ns: int
    prints: Prints
    through_us: int | None
    follows: bool
    finished: bool
    given_up: bool
    index: Stored

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """Read what `to_json` wrote; raises `KeyError`, `TypeError` or `ValueError` for anything else."""
        head, tail = (Print(int(value[name][0]), str(value[name][1])) for name in ("head", "tail"))
        return cls(
            name=str(value["name"]),
            identity=str(value["identity"]),
            device=int(value["device"]),
            inode=int(value["inode"]),
            version=None if value.get("version") is None else int(value["version"]),
            largest_size=int(value["largest_size"]),
            mtime_ns=int(value["mtime_ns"]),
            prints=Prints(offset=int(value["offset"]), head=head, tail=tail),
            through_us=None if value["through_us"] is None else int(value["through_us"]),
            follows=bool(value["follows"]),
            finished=bool(value["finished"]),
            given_up=bool(value["given_up"]),
            index=[[int(number) for number in block] for block in value["index"]],
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "name": self.name,
            "identity": self.identity,
            "device": self.device,
            "inode": self.inode,
            "version": self.version,
            "offset": self.prints.offset,
            "largest_size": self.largest_size,
            "mtime_ns": self.mtime_ns,
            "head": [self.prints.head.length, self.prints.head.digest],
            "tail": [self.prints.tail.length, self.prints.tail.digest],
            "through_us": self.through_us,
            "follows": self.follows,
            "finished": self.finished,
            "given_up": self.given_up,
            "index": self.index,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """One log: since when it is followed, its generations, oldest first, and what it covers beside other logs."""

    path: str
    since_ns: int
    generations: tuple[GenerationRecord, ...] = ()
    coverage: LogCoverage = field(default_factory=LogCoverage)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """Read what `to_json` wrote; raises `KeyError`, `TypeError` or `ValueError` for anything else."""
        through_us = value.get("through_us")
        return cls(
            path=str(value["path"]),
            since_ns=int(value["since_ns"]),
            generations=tuple(map(GenerationRecord.from_json, value["generations"])),
            coverage=LogCoverage(
                through_us=None if through_us is None else int(through_us),
                held=_spans(value.get("held", [])),
                gaps=_spans(value.get("gaps", [])),
            ),
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "path": self.path,
            "since_ns": self.since_ns,
            "generations": [each.to_json() for each in self.generations],
            "through_us": self.coverage.through_us,
            "held": self.coverage.held,
            "gaps": self.coverage.gaps,
        }


def _spans(value: list[list[int]]) -> tuple[Span, ...]:
    return tuple((int(start), int(end)) for start, end in value)
