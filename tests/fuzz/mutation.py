"""What is done to sound lines and bodies, from a seed that is printed: the same seed makes the same ones.

FAIRCLOCK_FUZZ_LINES and FAIRCLOCK_FUZZ_BODIES set how many the soak tries, FAIRCLOCK_FUZZ_SEED the seed.
"""

from __future__ import annotations

import os
import random

SEED = int(os.environ.get("FAIRCLOCK_FUZZ_SEED", "20261014"))
LINES = int(os.environ.get("FAIRCLOCK_FUZZ_LINES", "1000000"))
BODIES = int(os.environ.get("FAIRCLOCK_FUZZ_BODIES", "100000"))
LONGEST_STEP_SECONDS = 300
"""What takes half a second; one that takes this long hangs."""
TOKENS = [
    b"{", b"}", b'"', b"\\", b"\\x22", b"\\x", b"\\u0000", b"\\ud800", b"null", b"true", b"-", b"", b"[]", b"{}",
    b"[[[[", b"1e308", b"1e999", b"-1", b"0", b"NaN", b"18446744073709551616", b"99999999999999999999999999",
    b"1791939600.000", b'"time":"1791939600.000",', b"0.000001", b"4294967295.9", b"9" * 5_000, b"\x00", b"\x00" * 40,
    b"\xff\xfe", b"\xef\xbb\xbf", b"\xf0\x9f\x9a\x80", b"\xc3", b"\r", b"\n", b"\r\n", b"\t", b" ", b"'", b";",
    b"?secret", b"#", b" : ", b", ", b"00-" + b"f" * 32, b"x" * 5_000, b"[" * 2_000, b'{"a":' * 500, b"[" * 100_000,
    b"\x1f\x8b", b"\xff" * 10, b"\x80" * 11, b"\x0a\xff\xff\xff\xff\x0f", b"\x0a" * 400,
]  # fmt: skip
"""What means something to one of the formats, or to the one who reads it."""
VALUES = [
    None, True, False, 0, -1, 1.5, 2**63, 2**64, -(2**70), 1e308, "", "-", "NaN", "Infinity", "-1", "1e999", "\ud800",
    "\x00", "9" * 5_000, "00" * 16, "ff" * 8, [], {}, [[]], [None], {"a": None}, {"values": [{"values": 1}]},
]  # fmt: skip


def chooser(what):
    """Return a source of choices for `what`, which is printed with its seed."""
    print(f"{what}: FAIRCLOCK_FUZZ_SEED={SEED}")  # noqa: T201 - shown where the test fails, and with -s
    return random.Random(f"{SEED} {what}")


def mutated(data, choose):
    """Return `data` with one to six changes: bytes turned, cut, doubled, moved, and tokens that mean something."""
    data = bytearray(data)
    for _ in range(choose.randint(1, 6)):
        at = choose.randint(0, len(data))
        to = min(len(data), at + choose.randint(0, 40))
        kind = choose.randrange(8)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << choose.randrange(8)
        elif kind == 1:
            del data[at:to]
        elif kind == 2:
            data[at:at] = data[at:to]
        elif kind == 3:
            data[at:to] = choose.choice(TOKENS)
        elif kind == 4:
            data[at:at] = choose.choice(TOKENS)
        elif kind == 5:
            data[at:to] = choose.randbytes(to - at)
        elif kind == 6:
            piece = data[at:to]
            del data[at:to]
            at = choose.randint(0, len(data))
            data[at:at] = piece
        elif choose.random() < 0.2:
            del data[at:]
    return bytes(data)


def changed(value, choose):
    """Return a JSON value with one to four of its parts replaced, taken away or doubled."""
    holder = {"": value}
    for _ in range(choose.randint(1, 4)):
        places = list(_places(holder))
        parent, key = choose.choice(places)
        kind = choose.randrange(4)
        if kind == 0 and parent is not holder:
            del parent[key]
        elif kind == 1 and isinstance(parent, list):
            parent.insert(key, parent[key])
        elif kind == 2 and isinstance(parent, dict) and parent is not holder:
            parent[choose.choice(["value", "attributes", "name", "x" * 300, ""])] = parent.pop(key)
        else:
            parent[key] = choose.choice(VALUES)
    return holder[""]


def _places(value):
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from _places(value[key])
