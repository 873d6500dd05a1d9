"""Own the reconciliation of the probes of some time: what each source said of them, kept where it is news."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.model.sightings import Reconciled, Sighting, Source, told_by_probe
from fairclock.store.probe_sightings import keep_reconciled, reconciled_as_of, seen_of, taken_for
from fairclock.store.probes import probes_as_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.model.probes import Probe
    from fairclock.store import Store

_PROBES_AT_ONCE = 1_000
_ORDER = {source: place for place, source in enumerate(Source)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """What was found of the probes of some time.

    kept: how many of `found` say something new. repeated: of how many probes each source told more than once.
    taken_for: how many a gateway took for whose, other than the prober's.
    """

    probes: tuple[Probe, ...]
    found: tuple[Reconciled, ...]
    kept: int
    repeated: Mapping[Source, int]
    taken_for: Mapping[str, int]


def reconcile(
    store: Store, window: Interval, *, as_of: datetime, now: datetime, own: Collection[str] = ()
) -> Reconciliation:
    """Lay side by side what was known at `as_of` of the probes that were to be sent in `window`, and keep what is new.

    own: the tenants that probe; () where it is not looked at for whose probes are taken. Run again over the same rows it keeps nothing. Raises `StoreError`.
    """
    probes = probes_as_of(store, window, as_of)
    before = {each.probe.id: each for each in reconciled_as_of(store, window, as_of)}
    found: list[Reconciled] = []
    news: list[Reconciled] = []
    repeated: Counter[Source] = Counter()
    whose: Counter[str] = Counter()
    sent = [each for each in probes if each.sent_at is not None]
    for start in range(0, len(sent), _PROBES_AT_ONCE):
        some = sent[start : start + _PROBES_AT_ONCE]
        seen = seen_of(store, some, as_of)
        repeated.update(seen.repeated)
        if own:
            whose.update(taken_for(store, some, as_of, own=own))
        for probe in some:
            sightings = _in_order([*told_by_probe(probe), *seen.by_id.get(probe.id, ())])
            known = before.get(probe.id)
            if known is not None and known.sightings == sightings:
                found.append(known)
            else:
                each = Reconciled(probe=probe, at=now, sightings=sightings)
                found.append(each)
                news.append(each)
    keep_reconciled(store, news)
    return Reconciliation(
        probes=tuple(probes), found=tuple(found), kept=len(news), repeated=repeated, taken_for=whose
    )


def _in_order(sightings: Iterable[Sighting]) -> tuple[Sighting, ...]:
    ordered: Sequence[Sighting] = sorted(sightings, key=lambda each: _ORDER[each.source])
    return tuple(ordered)
