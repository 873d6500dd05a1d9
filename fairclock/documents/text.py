"""Own how text that others wrote (names, titles, reasons) is made safe to print."""

from __future__ import annotations

import re
import unicodedata

_JOINERS = frozenset("\u200c\u200d")
"""Needed inside Indic, Persian and emoji words; they draw nothing and move nothing."""

_NEVER_PRINTED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_MARKS = frozenset({"Mn", "Me"})
_MOST_MARKS_IN_A_ROW = 4
_FORMULA_STARTS = frozenset("=+-@＝＋－＠")
_LIKE_A_DATE = re.compile(r"\d+/\d+(?:/\d+)?")
"""Exact amounts such as 1/3: a spreadsheet would read the third of January in it, and keep nothing of the amount."""
_CSS_SPECIAL = re.compile(r"""[<>&"'\\\x00-\x1f\x7f]""")


def printable(text: str) -> str:
    """Return `text` as one line whose characters can neither hide nor move its neighbours.

    White space collapses to single spaces. What has no shape of its own (control and direction marks,
    surrogates, private and unassigned code points, heaps of combining marks) is shown as ``[U+202E]``,
    so that two names that differ still look different.
    """
    shown: list[str] = []
    marks = 0
    for character in unicodedata.normalize("NFC", " ".join(text.split())):
        category = unicodedata.category(character)
        marks = marks + 1 if category in _MARKS else 0
        hidden = category in _NEVER_PRINTED and character not in _JOINERS
        if hidden or marks > _MOST_MARKS_IN_A_ROW:
            shown.append(f"[U+{ord(character):04X}]")
        else:
            shown.append(character)
    return "".join(shown)


def shortened(text: str, most: int) -> str:
    """Return `text` cut to at most `most` characters, the cut marked by an ellipsis."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def inert_cell(text: str) -> str:
    """Return `text` as a CSV cell that no spreadsheet runs as a formula, or reads as a date where it is a quotient.

    Such a cell begins with an apostrophe. Only text comes here: numbers are written as numbers, so that negative ones stay numbers.
    """
    shown = printable(text)
    is_live = shown[:1] in _FORMULA_STARTS or _LIKE_A_DATE.fullmatch(shown) is not None
    return f"'{shown}" if is_live else shown


def css_string(text: str) -> str:
    """Return `text` as a quoted CSS string that can stand in an HTML ``<style>`` element."""
    return '"' + _CSS_SPECIAL.sub(lambda match: f"\\{ord(match.group()):x} ", text) + '"'
