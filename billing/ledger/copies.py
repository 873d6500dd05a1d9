"""Own the copy of a ledger that anybody can verify: a line an entry, its bytes as they were hashed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from billing.ledger.chains import settle
from billing.ledger.entries import canonical
from billing.ledger.verifying import Anchor, Stored
from fairclock.errors import InputError
from fairclock.model import utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TIMES = ("starts_at", "ends_at", "stored_at")
_COUNTS = ("sequence", "reverses")
_COPIED = tuple(Stored.__dataclass_fields__)


def copy_lines(rows: Iterable[Stored]) -> Iterator[bytes]:
    """Yield a JSON line a row, one stored twice once, and last one that says where each chain ends; at 0 where nothing of it holds."""
    found = list(rows)
    settled = settle(row.link for row in found)
    kept: set[str] = set()
    for row in sorted(found, key=_place):
        if row.hash not in kept:
            kept.add(row.hash)
            yield canonical({name: _written(getattr(row, name)) for name in _COPIED})
    yield canonical(
        {"ends": [[tenant, each.head.sequence, each.head.hash] for tenant, each in settled.items()]}
    )


def read_copy(text: bytes, *, where: str) -> tuple[list[Stored], list[Anchor]]:
    """Return the rows and the ends of a copy.

    Raises InputError where a line is none, or is there twice or elsewhere than it was written, and where the copy is not whole: its last
    line, and only that, says where the chains end, of every tenant.
    """
    rows: list[Stored] = []
    there: set[str] = set()
    ends: list[Anchor] | None = None
    lines = text.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for number, line in enumerate(lines, start=1):
        if ends is not None:
            raise _not_whole(f"{where}, line {number}", "comes after the line with the chains' ends", line)
        try:
            tree = json.loads(line)
            if set(tree) == {"ends"}:
                ends = _ends(tree["ends"])
                continue
            row = _row(tree)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise _not_whole(f"{where}, line {number}", "is no line of a ledger's copy", line) from error
        if row.hash in there:
            raise _not_whole(f"{where}, line {number}", "is there already", line)
        if rows and _place(row) < _place(rows[-1]):
            raise _not_whole(f"{where}, line {number}", "belongs before the line above it", line)
        there.add(row.hash)
        rows.append(row)
    if ends is None:
        problem = "is cut off: its last line does not say where the chains end"
        last = lines[-1] if lines else b""
        raise _not_whole(f"{where}, line {len(lines)}" if lines else where, problem, last)
    endless = sorted({row.tenant for row in rows} - {each.tenant for each in ends})
    if endless:
        problem = f"does not say where the chain of {endless[0]} ends, whose entries it has"
        raise _not_whole(f"{where}, line {len(lines)}", problem, lines[-1])
    return rows, ends


def _not_whole(where: str, problem: str, line: bytes) -> InputError:
    return InputError(
        where,
        problem,
        found=f"{line[:60].decode(errors='replace')}…" if line else "nothing",
        remedy="write the copy with fairclock ledger export --format jsonl",
    )


def _written(value: object) -> Any:
    if isinstance(value, datetime):
        return utc_text(value)
    return value.decode() if isinstance(value, bytes) else value


def _place(row: Stored) -> tuple[str, int, datetime]:
    """Return what orders the lines of a copy."""
    return row.tenant, row.sequence, row.stored_at


def _row(tree: dict[str, Any]) -> Stored:
    if set(tree) != set(_COPIED):
        raise ValueError("not the columns of an entry")
    return Stored(**{name: _read(name, tree[name]) for name in _COPIED})


def _ends(tree: list[Any]) -> list[Anchor]:
    ends = [
        Anchor(_read("tenant", tenant), _read("sequence", sequence), _read("hash", name))
        for tenant, sequence, name in tree
    ]
    if len({each.tenant for each in ends}) != len(ends):
        raise ValueError("a chain has one end")
    return ends


def _read(name: str, value: Any) -> Any:
    """Return a column's value; what only equals one, as `true` does 1, is none."""
    if name in _COUNTS:
        if type(value) is not int:
            raise TypeError(name)
        return value
    if not isinstance(value, str):
        raise TypeError(name)
    text = value.encode()  # half a surrogate pair ends here
    if name not in _TIMES:
        return text if name == "body" else value
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError("an instant without its zone")
    return moment.astimezone(UTC)
