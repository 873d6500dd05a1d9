"""Own the run of the fixed questions, and what it came to by inference mode."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from inference_probe.prober.printing import aligned
from inference_probe.prober.quality.judging import judged
from inference_probe.prober.quality.questions import fixed_questions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from inference_probe.prober.asking import Question
    from inference_probe.prober.endpoints import Endpoint
    from inference_probe.prober.observations import Observation
    from inference_probe.prober.plans import Asking

ANSWER_TOKENS = 200
_HEADINGS = ("inference mode", "answers", "repetition", "numbers copied", "invalid", "failed")


def fixed(asking: Asking, endpoint: Endpoint, *, rounds: int) -> Iterator[Question]:
    """Yield each fixed question `rounds` times; the answers may end by themselves."""
    number = 0
    for _ in range(rounds):
        for each in fixed_questions():
            yield asking.question(
                endpoint,
                number,
                prompt=each.prompt,
                completion_tokens=ANSWER_TOKENS,
                judge=partial(judged, question=each),
                may_stop=True,
            )
            number += 1


def by_mode(seen: Iterable[Observation]) -> dict[str, dict[str, Any]]:
    """Return the means over a mode's answers; what failed has no worth and is counted apart."""
    modes: defaultdict[str, list[Observation]] = defaultdict(list)
    for each in seen:
        modes[each.inference_mode].append(each)
    return {mode: _worth(found) for mode, found in sorted(modes.items())}


def _worth(seen: Sequence[Observation]) -> dict[str, Any]:
    answered = [each for each in seen if each.invalid_output is not None]
    return {
        "answers": len(answered),
        "failed": sum(each.says_something for each in seen) - len(answered),
        "repetition_ratio": _mean(each.repetition_ratio for each in answered),
        "numbers_copied_ratio": _mean(each.numbers_copied_ratio for each in answered),
        "invalid_ratio": _mean(float(bool(each.invalid_output)) for each in answered),
    }


def _mean(values: Iterable[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return round(fmean(known), 6) if known else None


def quality_lines(worth: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield a row a mode."""
    rows = [
        (
            mode or "(not said)",
            str(found["answers"]),
            *(
                _percent(found[name])
                for name in ("repetition_ratio", "numbers_copied_ratio", "invalid_ratio")
            ),
            str(found["failed"]),
        )
        for mode, found in worth.items()
    ]
    yield from aligned([_HEADINGS, *rows])


def _percent(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio * 100:.1f} %"
