"""Own what of a measurement is not as it should be, and how far it is from there."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from fairclock.model.sightings import Source
    from sla.measurement.bounding import ClockBounds
    from sla.measurement.differing import Difference
    from sla.measurement.figures import Measurement
    from sla.measurement.missing import SourceCount


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """From where on something is a problem.

    unseen: so many answered probes in a row that a source did not see. missing: the share of all that it may miss.
    apart_us: how far two clocks may be apart, or move.
    """

    unseen: int = 3
    missing: Fraction = Fraction(1, 100)
    apart_us: int = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One thing that was looked at: `value` may be `limit` at most; shares as such, clocks in seconds, rows as counts."""

    subject: str
    value: Fraction
    limit: Fraction
    bad: int | None = None
    counted: int | None = None

    @property
    def is_wrong(self) -> bool:
        """Return whether it is beyond its limit."""
        return self.value > self.limit


def checked_sources(
    measurement: Measurement, limits: Limits, *, known: Collection[Source] = ()
) -> list[tuple[SourceCount, Checked]]:
    """Return, of each source that saw a probe at all, how many it did not see in the end; `known` saw some before."""
    return [
        (
            each,
            Checked(
                subject=each.source.value,
                value=Fraction(each.unseen_last),
                limit=Fraction(limits.unseen - 1),
                bad=each.missing,
                counted=each.expected,
            ),
        )
        for each in measurement.sources
        if each.seen or (each.expected and each.source in known)
    ]


def checked_losses(
    measurement: Measurement, limits: Limits, *, known: Collection[Source] = ()
) -> list[Checked]:
    """Return what share of the probes each source missed that saw any, or is `known` to have seen some before."""
    return [
        Checked(
            subject=each.source.value,
            value=Fraction(each.missing, each.expected),
            limit=limits.missing,
            bad=each.missing,
            counted=each.expected,
        )
        for each in measurement.sources
        if each.seen or (each.expected and each.source in known)
    ]


def checked_differences(measurement: Measurement) -> list[tuple[Difference, Checked]]:
    """Return what share of the differences is beyond its tolerance, of each that has one."""
    return [
        (
            each,
            Checked(
                subject=f"{each.comparison.clock} {each.comparison.source} {each.comparison.against}",
                value=Fraction(each.beyond, each.count),
                limit=each.comparison.may_be_beyond,
                bad=each.beyond,
                counted=each.count,
            ),
        )
        for each in measurement.differences
        if each.beyond is not None
    ]


def checked_clocks(measurement: Measurement, limits: Limits) -> list[tuple[ClockBounds, Checked]]:
    """Return how far each pair of clocks was apart at least, or moved against each other."""
    return [
        (
            each,
            Checked(
                subject=f"{clock_name(each.source, each.instance)} {clock_name(each.against, each.against_instance)}",
                value=Fraction(max(each.apart_us, each.drift_us), 1_000_000),
                limit=Fraction(limits.apart_us, 1_000_000),
                counted=each.count,
            ),
        )
        for each in measurement.clocks
    ]


def clock_name(source: str, instance: str) -> str:
    """Return whose clock it is."""
    return f"{source} ({instance})" if instance else str(source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong: its kind, what it is about, and in one sentence how far it is from what may be."""

    kind: str
    about: str
    sentence: str


def problems(
    measurement: Measurement,
    limits: Limits,
    *,
    known: Collection[Source] = (),
    repeated: Mapping[Source, int] | None = None,
    taken_for: Mapping[str, int] | None = None,
) -> list[Problem]:
    """Return everything of `measurement` that is beyond its limit, sources first.

    known: the sources that saw probes of before. repeated: of how many probes each source told more than once.
    taken_for: how many the gateway took for a customer's, by tenant.
    """
    found = []
    for tenant, count in (taken_for or {}).items():
        sentence = f"{count} probes are in the figures and on the bill of the tenant {tenant}: give the prober a key of its own"
        found.append(Problem(kind="tenant", about=tenant, sentence=sentence))
    for source, count in (repeated or {}).items():
        if count > limits.missing * measurement.reconciled:
            sentence = f"{source} told of {count} of {measurement.reconciled} probes more than once: who counts its rows counts these twice"
            found.append(Problem(kind="repeated", about=source.value, sentence=sentence))
    for each in checked_losses(measurement, limits, known=known):
        if each.is_wrong:
            sentence = f"{each.subject} does not have {each.bad} of {each.counted} probes that it should have"
            found.append(Problem(kind="missing", about=each.subject, sentence=sentence))
    for difference, each in checked_differences(measurement):
        if each.is_wrong:
            of = difference.comparison
            sentence = (
                f"{of.clock} by {of.source} is more than {(of.tolerance_us or 0) / 1000:g} ms from what {of.against} says"
                f" in {each.bad} of {each.counted} probes"
            )
            found.append(Problem(kind="difference", about=each.subject, sentence=sentence))
    for clocks, each in checked_clocks(measurement, limits):
        if each.is_wrong:
            pair = (
                clock_name(clocks.source, clocks.instance),
                clock_name(clocks.against, clocks.against_instance),
            )
            moved = f", and moved by {clocks.drift_us / 1e6:.3f} s at least" if clocks.drift_us else ""
            sentence = (
                f"the clocks of {pair[0]} and {pair[1]} are {clocks.apart_us / 1e6:.3f} s apart at least{moved};"
                " no duration rests on that"
            )
            found.append(Problem(kind="clocks", about=each.subject, sentence=sentence))
    return found
