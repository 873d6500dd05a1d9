"""Own which format has which name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporters.webhooks.formats import (
    alertmanager,
    dingtalk,
    feishu,
    generic,
    pagerduty,
    slack,
    teams,
    wecom,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exporters.webhooks.formats.format import Format

FORMATS: Mapping[str, Format] = {
    "json": generic.FORMAT,
    "alertmanager": alertmanager.FORMAT,
    "slack": slack.FORMAT,
    "teams": teams.FORMAT,
    "pagerduty": pagerduty.FORMAT,
    "dingtalk": dingtalk.FORMAT,
    "feishu": feishu.FORMAT,
    "wecom": wecom.FORMAT,
}
