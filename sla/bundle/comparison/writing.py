"""Own the CSV of a comparison: every line of the customer's and every request of ours, once, and what became of it."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from fairclock.documents.text import inert_cell
from sla.bundle.comparison.differences import instant_text
from sla.bundle.comparison.ours import CLOCKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sla.bundle.comparison.differences import Comparison
    from sla.bundle.comparison.ours import Ours
    from sla.bundle.comparison.reading import Theirs

_HEADER = (
    "what", "matched_by", "line", "their_id", "their_start", "their_duration_us", "their_status", "our_id", "received",
    *(f"{clock}_us" for clock in CLOCKS), "outcome", "status", "difference_us", "problem",
)  # fmt: skip
_BYTE_ORDER_MARK = "\ufeff"


def comparison_csv(comparison: Comparison) -> bytes:
    """Return a row for each of both sides; `difference_us` is the customer's duration less our `end_to_end`."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(_HEADER)
    for row in _rows(comparison):
        writer.writerow([inert_cell(cell) if isinstance(cell, str) else cell for cell in row])
    return (_BYTE_ORDER_MARK + buffer.getvalue()).encode()


def _rows(comparison: Comparison) -> Iterator[list[str | int]]:
    nothing: list[str | int] = [""]
    matched = comparison.matched
    for pair in matched.pairs:
        difference = pair.theirs.duration_us - pair.ours.end_to_end_us
        yield ["matched", pair.by, *_theirs(pair.theirs), *_ours(pair.ours), difference, ""]
    for what, lines in (
        ("only theirs", comparison.only_theirs),
        ("ambiguous", matched.ambiguous_theirs),
        ("outside the month", comparison.elsewhere),
    ):
        for line in lines:
            yield [what, "", *_theirs(line), *nothing * 7, "", ""]
    for what, requests in (("only ours", comparison.only_ours), ("ambiguous", matched.ambiguous_ours)):
        for request in requests:
            yield [what, "", *nothing * 5, *_ours(request), "", ""]
    for bad in comparison.bad:
        yield ["bad line", "", bad.line, *nothing * 4, *nothing * 7, "", bad.problem]


def _theirs(each: Theirs) -> list[str | int]:
    return [each.line, each.id or each.trace, instant_text(each.start_us), each.duration_us, each.status]


def _ours(each: Ours) -> list[str | int]:
    clocks = [each.clock(name) for name in CLOCKS]
    return [each.id or each.trace, instant_text(each.received_us), *clocks, each.outcome, each.status]
