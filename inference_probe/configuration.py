"""Own the section ``probe`` of the configuration."""

from __future__ import annotations

from fairclock.config import Section
from inference_probe.reconciliation.configuration import ReconcileSection


class ProbeSection(Section):
    """What becomes of probes."""

    reconcile: ReconcileSection = ReconcileSection()
