"""Own the clocks of a run: each from the instant at which a probe was meant to begin, so that waiting to be sent counts.

What failed has every latency that is longer than any; what says nothing of the service (refused, stopped, never sent) has none.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from fairclock.model.probes import ProbeOutcome
from inference_probe.prober.ranks import NEVER, Ranked, ranked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from inference_probe.prober.observations import Observation

FROM_INTENDED = {
    "time_to_first_byte": "first_byte",
    "time_to_first_token": "first_token",
    "time_to_first_reasoning_token": "first_reasoning_token",
    "end_to_end": "done",
}
"""The clocks that run from the intended start, and the mark that stops each."""

_HANDSHAKES = {
    "connect": ("sent", "connected", ("connect:", "timeout:connecting")),
    "tls": ("connected", "secured", ("connect:", "TLS:", "timeout:securing")),
}
"""The marks between which each handshake lies, and how the errors begin of one that was begun and never ended."""

CLOCKS = (*FROM_INTENDED, "time_per_output_token", "connect", "tls")


def latencies(seen: Sequence[Observation], clock: str) -> Ranked:
    """Return a clock's values in seconds; the lateness of the prober is in them, never taken out."""
    telling = [each for each in seen if each.says_something]
    if clock in FROM_INTENDED:
        return _with_failures(clock, telling, list(_from_intended(telling, FROM_INTENDED[clock])))
    if clock == "time_per_output_token":
        return _with_failures(clock, telling, list(_per_token(telling)))
    return ranked(_handshakes(telling, *_HANDSHAKES[clock]))


def _with_failures(clock: str, telling: Sequence[Observation], measured: Sequence[float]) -> Ranked:
    """Rank what failed above all that was measured.

    A clock that none of the answers stopped was not measured, such as tokens' of whole answers. Where there is no answer
    at all, every clock is without end but that of reasoning, which not every model has.
    """
    failed = sum(each.outcome is not ProbeOutcome.OK for each in telling)
    is_measured = bool(measured) or (failed == len(telling) and clock != "time_to_first_reasoning_token")
    return ranked([*measured, *[NEVER] * failed] if is_measured else ())


def _from_intended(telling: Iterable[Observation], mark: str) -> Iterator[float]:
    for each in telling:
        instant = getattr(each, mark)
        if each.outcome is ProbeOutcome.OK and instant is not None:
            yield instant - each.intended


def _handshakes(
    telling: Iterable[Observation], begin: str, end: str, unmade: tuple[str, ...]
) -> Iterator[float]:
    """Yield how long each took that was made; one that was begun and never ended is without end."""
    for each in telling:
        begun, ended = getattr(each, begin), getattr(each, end)
        if begun is not None and ended is not None:
            yield ended - begun
        elif begun is not None and (each.error or "").startswith(unmade):
            yield NEVER


def _per_token(telling: Iterable[Observation]) -> Iterator[float]:
    """Yield (last token - first token) / (tokens - 1), where the service counted as it went, or said how many there were."""
    for each in telling:
        if each.outcome is not ProbeOutcome.OK:
            continue
        if len(each.tokens) > 1:
            yield (each.tokens[-1] - each.tokens[0]) / (len(each.tokens) - 1)
        elif not each.tokens and (each.completion_tokens or 0) > 1 and each.last_token and each.first_token:
            first = min(each.first_token, each.first_reasoning_token or each.first_token)
            yield (each.last_token - first) / ((each.completion_tokens or 0) - 1)


def figures(seen: Sequence[Observation]) -> dict[str, Any]:
    """Return what a stage came to: outcomes, errors by class, tokens, and each clock that was measured."""
    ends = [each.done for each in seen if each.done is not None and each.outcome is ProbeOutcome.OK]
    begins = [each.intended for each in seen if each.sent is not None]
    # to the last probe that was meant to begin too: a service that answers for a second and then fails does no more work a second
    elapsed = max(*ends, *begins) - min(begins) if ends else 0.0
    completed = sum(each.completion_tokens or 0 for each in seen if each.outcome is ProbeOutcome.OK)
    telling = [each for each in seen if each.says_something]
    failed = sum(each.outcome is not ProbeOutcome.OK for each in telling)
    return {
        "probes": len(seen),
        "outcomes": dict(sorted(Counter(each.outcome.value for each in seen).items())),
        "errors": dict(sorted(Counter(each.error for each in seen if each.error).items())),
        "error_ratio": round(failed / len(telling), 6) if telling else None,
        "elapsed_seconds": round(elapsed, 6),
        "requests_per_second": round(len(ends) / elapsed, 3) if elapsed > 0 else None,
        "output_tokens_per_second": round(completed / elapsed, 3) if elapsed > 0 else None,
        "clocks": {clock: values.tree() for clock in CLOCKS if (values := latencies(seen, clock)).n},
    }
