"""Own which processes an engine had, one after the other: from what scrapes saw, and from what the plugin said.

Nothing here reads a store or a clock.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING

from fairclock.model import from_us, utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from fairclock.model.engine_signs import CounterFell, ProcessSeen, Said

ONE_START = timedelta(seconds=10)
"""Ranks and API servers of one engine say within this time of each other that it started."""
_CLOCKS_DIFFER = timedelta(seconds=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One process of one engine.

    began: at the latest, and `is_exact` where it is known to the second. seen_from, seen_to: when it answered or spoke;
    seen_to is None where only its start was said. ended: when it said that it stops. evidence: what shows the start.
    by_plugin: whether the plugin said so, who would also have said its end.
    before: the life whose place it took, None where it is the first that is known or others went on beside it.
    """

    engine: str
    began: datetime
    seen_from: datetime
    seen_to: datetime | None
    evidence: str
    is_exact: bool = True
    by_plugin: bool = False
    ended: datetime | None = None
    before: Life | None = None


def lives_seen(seen: Iterable[ProcessSeen], fallen: Iterable[CounterFell] = ()) -> list[Life]:
    """Return the lives that scrapes show, target by target, in time order.

    A process took another's place if that one answered no more once it had begun; processes that answer in turn
    behind one address took nobody's.
    """
    by_target: dict[str, list[Life]] = defaultdict(list)
    for each in sorted(seen):
        life = Life(
            engine=each.target,
            began=from_us(each.began_us),
            seen_from=from_us(each.first_us),
            seen_to=from_us(each.last_us),
            evidence=f"{each.series} of {each.target} says {utc_text(from_us(each.began_us))},"
            f" first read at {utc_text(from_us(each.first_us))}",
        )
        lives = by_target[each.target]
        if lives and life.began - lives[-1].began <= ONE_START:
            lives[-1] = _both(lives[-1], life)
        else:
            lives.append(life)
    found = [each for lives in by_target.values() for each in _followed(lives)]
    return found + _fallen(fallen, {each.engine for each in found})


def lives_said(said: Iterable[Said], heard: Mapping[str, datetime] = MappingProxyType({})) -> list[Life]:
    """Return the lives that plugins told of, instance by instance, in time order.

    What several ranks or API servers say within ten seconds is one start, the last of them. `heard` is when an instance
    was first heard: a life whose start was not said, but which another one followed, began by then.
    """
    by_instance: dict[str, list[Life]] = defaultdict(list)
    for instance, at in heard.items():
        known = Life(
            engine=instance, began=at, seen_from=at, seen_to=None, evidence="", is_exact=False, by_plugin=True
        )
        by_instance[instance].append(known)
    for each in sorted(said, key=lambda one: (one.at, one.event, one.instance, one.rank)):
        lives = by_instance[each.instance]
        if each.event == "stopped":
            if lives and lives[-1].ended is None:
                lives[-1] = replace(lives[-1], ended=each.at)
            continue
        life = Life(
            engine=each.instance,
            began=each.at,
            seen_from=each.at,
            seen_to=None,
            evidence=f"the plugin of {each.instance} said at {utc_text(each.at)} that it had started",
            by_plugin=True,
        )
        if lives and lives[-1].ended is None and each.at - lives[-1].began <= ONE_START:
            # a life that was heard at first as it started is this one
            lives[-1] = replace(life, before=lives[-1].before)
        else:
            lives.append(replace(life, before=lives[-1] if lives else None))
    return [each for _, lives in sorted(by_instance.items()) for each in lives]


def _both(earlier: Life, later: Life) -> Life:
    """Return two processes that began together as one: it began with the later of them."""
    assert earlier.seen_to is not None  # noqa: S101 - scrapes saw both
    assert later.seen_to is not None  # noqa: S101
    return replace(
        later,
        seen_from=min(earlier.seen_from, later.seen_from),
        seen_to=max(earlier.seen_to, later.seen_to),
    )


def _followed(lives: list[Life]) -> list[Life]:
    found: list[Life] = []
    for place, life in enumerate(lives):
        earlier = lives[:place]
        beside = [each for each in earlier if each.seen_to and each.seen_to > life.began + _CLOCKS_DIFFER]
        before = max(earlier, key=lambda each: each.seen_to or each.began) if earlier and not beside else None
        found.append(replace(life, before=before))
    return found


def _fallen(fallen: Iterable[CounterFell], dated: set[str]) -> list[Life]:
    """Return the lives of targets that nothing dates: a fall, which is no return of another process, is a start."""
    found: list[Life] = []
    last: dict[str, Life] = {}
    for each in sorted(fallen, key=lambda one: (one.target, one.at_us, one.series, one.before_us)):
        before = last.get(each.target)
        at = from_us(each.at_us)
        if each.target in dated or (before is not None and at - before.began <= ONE_START):
            continue
        previous = Life(
            engine=each.target,
            began=from_us(each.before_us),
            seen_from=from_us(each.before_us),
            seen_to=from_us(each.before_us),
            evidence="",
            is_exact=False,
        )
        life = Life(
            engine=each.target,
            began=at,
            seen_from=at,
            seen_to=at,
            evidence=f"{each.series} of {each.target} fell from {each.before:g} to {each.after:g} between"
            f" {utc_text(from_us(each.before_us))} and {utc_text(at)}; nothing says when it began",
            is_exact=False,
            before=previous,
        )
        found.append(life)
        last[each.target] = life
    return found
