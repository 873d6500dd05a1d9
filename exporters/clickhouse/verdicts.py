"""Own what an error of the store means for the rows that met it.

The numbers are ClickHouse's: https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp
"""

from __future__ import annotations

import re
from enum import StrEnum

from fairclock.errors import FairclockError, StoreNewer, StoreReadOnly, StoreUnreachable

_CODE = re.compile(r"\bCode: ([0-9]+)\b|\bClickHouse error code ([0-9]+)\b")

# what the values themselves are to blame for: texts that cannot be parsed, numbers out of range, constraints
_OF_ROWS = frozenset({
    6, 26, 27, 32, 33, 38, 41, 53, 69, 70, 72, 117, 128, 131, 153, 190, 321, 349, 376, 407, 441, 467, 469, 675, 676,
})  # fmt: skip
# what has nothing to do with rows: load, limits, schema on its way, rights, disks, clusters, interrupted queries
_OF_THE_SERVER = frozenset({
    3, 16, 23, 24, 47, 48, 49, 60, 62, 74, 75, 76, 81, 107, 125, 158, 159, 160, 164, 192, 193, 194, 198, 201, 202, 203,
    209, 210, 218, 225, 236, 241, 242, 243, 252, 279, 285, 286, 289, 290, 307, 319, 336, 341, 359, 364, 373, 394, 396,
    416, 425, 439, 479, 497, 499, 516, 519, 574, 606, 630, 667, 668, 692, 701, 722, 735, 745, 999, 1000, 1001, 1002,
})  # fmt: skip
TOO_MUCH_MEMORY = 241


class Verdict(StrEnum):
    """What becomes of the rows."""

    LATER = "later"  # nothing is wrong with them: try again, for as long as it takes
    NEVER = "never"  # one of them, at least, will not be taken
    UNCLEAR = "unclear"  # it may be one of them


def verdict_of(error: Exception) -> Verdict:
    """Judge `error`, which a store raised for some rows."""
    if isinstance(error, StoreUnreachable | StoreReadOnly | StoreNewer):
        return Verdict.LATER
    if not isinstance(error, FairclockError):
        return Verdict.UNCLEAR
    code = code_of(error)
    if code in _OF_ROWS:
        return Verdict.NEVER
    # Without a number it was not the server that judged: a front, a proxy, a connection that broke off.
    return Verdict.LATER if code is None or code in _OF_THE_SERVER else Verdict.UNCLEAR


def code_of(error: Exception) -> int | None:
    """Return ClickHouse's number of `error`; None where there is none."""
    match = _CODE.search(str(error))
    return int(match[1] or match[2]) if match else None


def name_of(error: Exception) -> str:
    """Name `error` without what it says, which may quote a row."""
    code = code_of(error)
    return type(error).__name__ if code is None else f"error {code}"


def sentence_of(error: Exception) -> str:
    """Return what may be printed of `error`: all it says only where it speaks of the server and not of rows."""
    return str(error) if verdict_of(error) is Verdict.LATER else name_of(error)
