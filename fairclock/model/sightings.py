"""Own what one source says of one probe, and what all of them say together."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from fairclock.model.probes import ProbeOutcome

if TYPE_CHECKING:
    from datetime import datetime

    from fairclock.model.probes import Probe


class Source(StrEnum):
    """Who saw a probe; from the outermost to the innermost."""

    CLIENT = "client"
    GATEWAY = "gateway"
    SPAN = "span"
    PLUGIN = "plugin"
    TRUTH = "truth"  # what the bundled service says of itself, with its answer


def should_see(source: Source, probe: Probe) -> bool:
    """Return whether a source should have seen a probe: a gateway whatever was answered, others what was answered well.

    Of what its client gave up, client and engine have no duration. `fairclock.store.probe_figures` says the same in SQL.
    """
    # whoever answers with a status has passed the gateway
    return probe.status != 0 if source is Source.GATEWAY else probe.outcome is ProbeOutcome.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One probe as one source saw it; durations in microseconds, None where the source does not say.

    instance: which one of its kind it was, such as an engine's name. began_at: by the source's own clock; never to be
    subtracted from another source's. end_to_end_us: from what the source takes for the beginning to its end.
    """

    source: Source
    instance: str = ""
    began_at: datetime | None = None
    end_to_end_us: int | None = None
    queue_us: int | None = None
    prefill_us: int | None = None
    decode_us: int | None = None
    first_token_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """One probe and all that was known of it `at` an instant, a sighting a source at most, in the order of sources."""

    probe: Probe
    at: datetime
    sightings: tuple[Sighting, ...]

    def by(self, source: Source) -> Sighting | None:
        """Return what `source` saw; None where it saw nothing."""
        return next((each for each in self.sightings if each.source is source), None)


def told_by_probe(probe: Probe) -> list[Sighting]:
    """Return what the prober saw of its probe, and what the service told it of itself, as far as there is either.

    The client's time runs from the end of the handshakes, when it has its request written, as a gateway's does; the
    service's truth has all that the engine went through.
    """
    found = []
    if probe.sent_at is not None and probe.done_us is not None:
        ready_us = max(probe.connected_us or 0, probe.secured_us or 0)
        firsts = [us for us in (probe.first_token_us, probe.first_reasoning_token_us) if us is not None]
        found.append(
            Sighting(
                source=Source.CLIENT,
                instance=probe.prober,
                began_at=probe.sent_at + timedelta(microseconds=ready_us),
                end_to_end_us=probe.done_us - ready_us,
                first_token_us=min(firsts) - ready_us if firsts else None,
            )
        )
    if probe.engine_prefill_us is not None:
        found.append(
            Sighting(
                source=Source.TRUTH,
                instance=probe.engine,
                began_at=probe.engine_arrived_at,
                end_to_end_us=probe.engine_end_to_end_us,
                queue_us=probe.engine_queue_us,
                prefill_us=probe.engine_prefill_us,
                decode_us=probe.engine_decode_us,
                first_token_us=probe.engine_first_token_us,
            )
        )
    return found
