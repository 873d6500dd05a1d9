"""What is written at random, for long: no reader of a gateway's log raises anything but that it cannot read it."""

import random

import pytest

from collectors.gateway.formats import FORMATS
from tests.gateways.reading import FIXTURES, lines_of, read_or_refused

pytestmark = pytest.mark.soak

NAMES = sorted(path.stem for path in FIXTURES.glob("*.log"))
PIECES = [
    b"\0",
    b'"',
    b"\\",
    b'\\"',
    b"{",
    b"}",
    b"[",
    b"]",
    b"-1",
    b"1e999",
    b"NaN",
    b"\xff\xfe",
    b" ",
    b"9" * 400,
    b"+",
    b"null",
    b"\xe2\x80\xa8",
]


@pytest.mark.parametrize("name", NAMES)
def test_no_line_is_too_broken_to_be_refused(name):
    source = random.Random(name)
    lines = [line for each in NAMES for line in lines_of(each)]
    own = lines_of(name)
    for _ in range(100_000):
        line = bytearray(source.choice(own if source.random() < 0.9 else lines))
        for _ in range(source.randint(1, 6)):
            at = source.randrange(len(line) + 1)
            match source.randrange(4):
                case 0:
                    line[at : at + source.randint(0, 9)] = source.choice(PIECES)
                case 1:
                    del line[at : at + source.randint(1, 30)]
                case 2:
                    other = source.choice(lines)
                    line[at:] = other[source.randrange(len(other)) :]
                case _:
                    if line:
                        line[at % len(line)] = source.randrange(256)
        read_or_refused(name, bytes(line))


def test_every_format_of_these_is_known():
    assert set(NAMES) <= FORMATS.keys()
