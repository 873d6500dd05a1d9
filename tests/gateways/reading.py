"""Own how the tests of gateway formats read lines, and the mutations that no reader may fall over."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from collectors.gateway.formats import FORMATS, UnreadableLine, format_of
from collectors.gateway.formats.times import us_of_seconds

FIXTURES = Path(__file__).parent / "fixtures"


def lines_of(name):
    """Return the lines of a fixture."""
    return (FIXTURES / f"{name}.log").read_bytes().splitlines()


def read(name, line):
    """Return what the format `name` reads in `line` (text or bytes)."""
    return format_of(name).read(line.encode() if isinstance(line, str) else line)


def reason_of(name, line):
    """Return why the format `name` cannot read `line`."""
    try:
        fields = read(name, line)
    except UnreadableLine as error:
        return error.reason
    raise AssertionError(f"it was read: {fields}")


def recognised_by(line):
    """Return the names of all formats that recognise `line`."""
    return {name for name, each in FORMATS.items() if each.recognise(line) is not None}


@st.composite
def mutated(draw, lines):
    """Return one of `lines` with a few bytes changed, cut, doubled or put in."""
    line = bytearray(draw(st.sampled_from(lines)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(line) - 1, 0)))
        match draw(st.sampled_from(["change", "cut", "double", "insert", "remove"])):
            case "change" if line:
                line[at] = draw(st.integers(0, 255))
            case "cut":
                del line[at:]
            case "double":
                line[at:at] = line[at : at + 40]
            case "insert":
                line[at:at] = draw(
                    st.sampled_from(
                        [
                            b"\0",
                            b'"',
                            b"\\",
                            b'\\"',
                            b"{",
                            b"-1",
                            b"1e999",
                            b"NaN",
                            b"\xff\xfe",
                            b" ",
                            b"9" * 400,
                        ]
                    )
                )
            case _:
                del line[at : at + 7]
    return bytes(line)


def read_or_refused(name, line):
    """Read a line that may be anything; a text for every value, or a reason that names no content."""
    form = format_of(name)
    form.recognise(line)
    form.ignores(line)
    try:
        fields = form.read(line)
    except UnreadableLine as refused:
        reason = refused.reason
    else:
        reason = ""
    if reason:
        assert len(reason) < 120
        return
    assert all(isinstance(key, str) and isinstance(value, str) for key, value in fields.items())
    whole = us_of_seconds(fields["time"])
    assert form.ended_us(line) == whole
