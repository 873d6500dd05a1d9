"""The doctor and the plugin: silent without one, content where both agree, precise where they do not."""

import pytest

from fairclock.cli.diagnosis.plugin import plugin_findings
from fairclock.store.engine_rows import FieldDifference, PluginFigures

BOTH = "1,204 requests of the last day were reported by both"


def difference(field="queue", **changes):
    return FieldDifference(
        **{"field": field, "pairs": 1_204, "differing": 0, "median": 0, "greatest": 0} | changes
    )


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        (PluginFigures(), []),
        (
            PluginFigures(differences=(difference(), difference("arrived", differing=300, median=0, greatest=1))),
            [("ok", f"{BOTH}, and agree")],
        ),
        (
            PluginFigures(differences=(difference(differing=3, median=0, greatest=100_000), difference("decode"))),
            [("warning", f"{BOTH}, and differ: queue in 3, by 0 µs in the middle and 100,000 at most")],
        ),
        (
            PluginFigures(differences=(difference("completion_tokens", differing=1, median=0, greatest=2),)),
            [("warning", f"{BOTH}, and differ: completion_tokens in 1, by 0 tokens in the middle and 2 at most")],
        ),
        (PluginFigures(lost_records=7_000), [("warning", "7,000 records of the last day never came")]),
    ],
    ids=["no plugin", "agreement up to rounding", "another queue", "other tokens", "lost records"],
)  # fmt: skip
def test_what_is_told(figures, told):
    assert [(each.state, each.detail) for each in plugin_findings(figures)] == told
