"""Own the check of the plugin inside vLLM: whether it and the spans say the same, and whether it lost records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.cli.diagnosis.finding import ok, warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.cli.diagnosis.finding import Finding
    from fairclock.store.engine_rows import FieldDifference, PluginFigures

_CHECK, _LOST = "plugin and spans", "plugin"
_ROUNDING_US = 1
_TOKENS = "_tokens"


def plugin_findings(found: PluginFigures) -> Iterator[Finding]:
    """Say how far both differ where both reported; nothing where there is no plugin."""
    if found.lost_records:
        yield warning(
            _LOST,
            f"{found.lost_records:,} records of the last day never came",
            'see which engine and why: fairclock query "SELECT instance, lost_reason, lost_records FROM engine_states'
            " WHERE event = 'lost'\"",
        )
    if not found.differences:
        return
    pairs = max(each.pairs for each in found.differences)
    apart = [each for each in found.differences if each.greatest > _allowed(each)]
    text = f"{pairs:,} requests of the last day were reported by both"
    if apart:
        yield warning(
            _CHECK,
            f"{text}, and differ: {'; '.join(map(_said, apart))}",
            "install the plugin of this Fairclock, and see docs/vllm-plugin.md for what each of them measures",
        )
    else:
        yield ok(_CHECK, f"{text}, and agree")


def _allowed(difference: FieldDifference) -> int:
    """Return what is no difference: the plugin takes the arrival from the end and the duration, which is rounded."""
    return _ROUNDING_US if difference.field == "arrived" else 0


def _said(difference: FieldDifference) -> str:
    unit = "tokens" if difference.field.endswith(_TOKENS) else "µs"
    return (
        f"{difference.field} in {difference.differing:,}, by {difference.median:,} {unit} in the middle and"
        f" {difference.greatest:,} at most"
    )
