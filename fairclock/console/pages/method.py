"""Own the page that says how figures are measured; what the models link to is all there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.console.readings.models.base import Anchor
from sla.reports.evidence import definitions

if TYPE_CHECKING:
    from fairclock.console.pages.wording import Wording


def method_parts(words: Wording) -> dict[str, Any]:
    """Return what the template of the method needs."""
    return {
        "anchors": [anchor.value for anchor in Anchor],
        "definitions": [{"label": each.term, "lines": [each.text]} for each in definitions(words.shared)],
    }
