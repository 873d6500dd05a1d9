"""Own the formula: what one group of alike requests is charged under one version of the prices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from billing.charges.rules.base_fee import base_fee
from billing.charges.rules.gpu_seconds import gpu_seconds
from billing.charges.rules.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from billing.charges.charge import Charge
    from billing.prices.version import PriceVersion
    from billing.usage.groups import Usage

RULES: tuple[Callable[[Usage, PriceVersion], Iterable[Charge]], ...] = (base_fee, tokens, gpu_seconds)


def charge(usage: Usage, version: PriceVersion) -> list[Charge]:
    """Return what a group is charged, exactly, in the order of a statement's lines.

    What was used and costs nothing (refused, not priced) is returned too, so that it can be shown; what was not
    used is not.
    """
    return [each for rule in RULES for each in rule(usage, version) if each.count]
