"""Own how the seals of days are sent from a long-running command."""

from __future__ import annotations

import os
import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairclock.cli.configuration import Configuration
    from fairclock.store import Store
    from sla.issuing.noticing import SealDeliveryStep


def sending_seals(settings: Configuration, store: Callable[[], Store]) -> SealDeliveryStep | None:
    """Return the step that sends seals; None where nobody is to have them. Raises ConfigurationError."""
    if not settings.sla.seals.receivers:
        return None
    from sla.issuing.carrying import Carrier, receivers_of  # noqa: PLC0415 - needs httpx
    from sla.issuing.noticing import SealDeliveryStep  # noqa: PLC0415

    receivers = receivers_of(
        settings.sla.seals,
        settings.mail,
        settings.webhooks,
        environment=os.environ,
        now=lambda: datetime.now(UTC),
    )
    return SealDeliveryStep(store, Carrier(receivers=receivers, random=random.random))
