"""Own what of a bundle came before: the revisions of the month that were known, and how this report differs from the last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.store.evaluations import evaluations_as_of
from sla.bundle.written import json_bytes, lines_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime
    from typing import Any

    from fairclock.store import Store


def history_files(store: Store, report: Mapping[str, Any], as_of: datetime) -> Iterator[tuple[str, bytes]]:
    """Yield the figures of every revision known at `as_of`, and the differences from the one before this report's."""
    known = evaluations_as_of(store, str(report["contract"]["id"]), str(report["period"]["month"]), as_of)
    yield (
        "revisions.jsonl",
        lines_bytes(
            {
                "revision": each.revision,
                "as_of": each.as_of,
                "digest": each.digest,
                "figures": each.figures,
                "program": each.program,
            }
            for each in known
        ),
    )
    yield (
        "difference.json",
        json_bytes(
            {
                "revision": report["revision"],
                "previous": report["previous_revision"],
                "changes": report["changes"],
            }
        ),
    )
