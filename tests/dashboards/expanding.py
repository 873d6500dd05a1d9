"""What Grafana and its data sources make of a query before they send it.

Variables as Grafana writes them in the two formats used here; the macros of grafana-clickhouse-datasource 4 as its
pkg/macros has them: instants in whole seconds, an end that belongs to the range, an interval of at least one second.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, kw_only=True)
class Range:
    """The range and interval of a panel."""

    start: datetime
    end: datetime
    interval: timedelta = timedelta(minutes=1)


def in_sql(text: str, chosen: dict[str, list[str] | str], shown: Range) -> str:
    """Return a ClickHouse query as the plugin sends it; a variable that is one text stands for everything, as it is."""

    def value(found: re.Match[str]) -> str:
        said = chosen[found["name"]]
        if isinstance(said, str):
            return said
        if found["format"] == "singlequote":
            return ",".join("'" + each.replace("'", "\\'") + "'" for each in said)
        assert len(said) == 1, f"{found[0]} is one of several and has no format"
        return said[0]

    text = re.sub(r"\$\{(?P<name>\w+)(?::(?P<format>\w+))?\}", value, text)
    seconds = max(int(shown.interval.total_seconds()), 1)
    start, end = (f"toDateTime({int(each.timestamp())})" for each in (shown.start, shown.end))
    text = re.sub(
        r"\$__timeInterval\((\w+)\)",
        lambda found: f"toStartOfInterval(toDateTime({found[1]}), INTERVAL {seconds} second)",
        text,
    )
    for name, said in (("fromTime", start), ("toTime", end), ("interval_s", str(seconds))):
        text = re.sub(rf"\$__{name}\b", lambda _, said=said: said, text)
    assert "$" not in text, f"not expanded: {text[text.index('$') :][:60]}"
    return text


def in_promql(
    text: str, chosen: dict[str, list[str] | str], *, seconds: int, interval: int, scrape: int
) -> str:
    """Return a PromQL query as the data source sends it: one value as it is, several as an alternative."""
    for name, said in chosen.items():
        value = said if isinstance(said, str) else said[0] if len(said) == 1 else f"({'|'.join(said)})"
        text = re.sub(rf"\${name}\b", lambda _, value=value: value, text)
    rate = max(interval + scrape, 4 * scrape)
    for name, length in (("rate_interval", rate), ("range", seconds), ("interval", interval)):
        text = re.sub(rf"\$__{name}\b", f"{length}s", text)
    assert "$" not in text, text
    return text
