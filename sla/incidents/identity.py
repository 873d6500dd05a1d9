"""Own what an incident is called: a name that follows from whose it is and when it was first seen to begin."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from fairclock.model import utc_text

if TYPE_CHECKING:
    from datetime import datetime

_CHARACTERS = 16


def incident_id(contract_id: str, objective: str, first_bad_minute: datetime) -> str:
    """Return the name of the incident of an objective that was first seen to begin with `first_bad_minute`.

    It is kept when a late row moves the beginning: see `sla.incidents.naming`.
    """
    said = "\n".join((contract_id, objective, utc_text(first_bad_minute)))
    return f"inc-{hashlib.sha256(said.encode()).hexdigest()[:_CHARACTERS]}"
