"""Own what is shown of a ledger: sums of its entries by tenant, month, model, length class, mode and hour."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from billing.ledger.entries import EntryKind
from billing.usage import Treatment
from fairclock.model import utc_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from billing.ledger.entries import Draft, Item

Dimension = Literal[
    "tenant", "month", "model", "length_class", "inference_mode", "machine", "treatment", "charge", "hour"
]
DIMENSIONS: tuple[Dimension, ...] = (
    "tenant", "month", "model", "length_class", "inference_mode", "machine", "treatment", "charge", "hour",
)  # fmt: skip
_ZERO = Fraction(0)
_THOUSAND = 1_000
INVALID = frozenset({Treatment.ABORTED, Treatment.INCOMPLETE, Treatment.REFUSED})
"""Requests that ended without the whole answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one combination of the asked dimensions sums up to; amounts are exact, in `currency`.

    retried, probes, invalid: what of `amount` is for tries that were repeated, for probes, and for requests that
    were aborted, incomplete or refused. adjusted: what is no usage: minimums, tiers, credits.
    """

    keys: tuple[str, ...]
    currency: str
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    gpu_picoseconds: int = 0
    amount: Fraction = _ZERO
    retried: Fraction = _ZERO
    probes: Fraction = _ZERO
    invalid: Fraction = _ZERO
    adjusted: Fraction = _ZERO

    @property
    def tokens(self) -> int:
        """Return prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def per_1000_requests(self) -> Fraction | None:
        """Return what 1,000 requests cost; None where there were none."""
        return self.amount * _THOUSAND / self.requests if self.requests else None

    @property
    def per_1000_tokens(self) -> Fraction | None:
        """Return what 1,000 tokens cost; None where there were none."""
        return self.amount * _THOUSAND / self.tokens if self.tokens else None

    @property
    def tokens_per_unit(self) -> Fraction | None:
        """Return how many tokens one unit of the currency buys; None where nothing was charged."""
        return self.tokens / self.amount if self.amount > 0 else None


@dataclass(slots=True)
class _Sums:
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    gpu_picoseconds: int = 0
    amounts: dict[str, Fraction] = field(default_factory=dict)

    def pay(self, name: str, amount: Fraction) -> None:
        self.amounts[name] = self.amounts.get(name, _ZERO) + amount


def table(
    entries: Iterable[Draft], by: Sequence[Dimension], *, keep: Callable[[Draft], bool] = lambda _: True
) -> list[Row]:
    """Return the sums of `entries` by the dimensions `by`, sorted by them; taken back and standing entries cancel out.

    A month is the one an entry is about; with the dimension ``charge`` a request is counted in every row that charges it.
    """
    found: dict[tuple[tuple[str, ...], str], _Sums] = {}
    for draft in entries:
        if not keep(draft) or draft.kind is EntryKind.CLOSE:
            continue
        for item in draft.items:
            if "charge" not in by:
                key = tuple(_value(draft, item, each) for each in by)
                _add(found.setdefault((key, draft.currency), _Sums()), item, item.amount)
                continue
            for charge in item.charges:
                key = tuple(charge.kind if each == "charge" else _value(draft, item, each) for each in by)
                _add(found.setdefault((key, draft.currency), _Sums()), item, charge.amount)
    return [
        _row(keys, currency, sums) for (keys, currency), sums in sorted(found.items()) if _is_something(sums)
    ]


def _add(sums: _Sums, item: Item, amount: Fraction) -> None:
    sums.pay("amount", amount)
    usage = item.usage
    if usage is None:
        sums.pay("adjusted", amount)
        return
    sums.requests += usage.requests
    sums.prompt_tokens += usage.uncached_prompt_tokens + usage.cached_prompt_tokens
    sums.completion_tokens += usage.completion_tokens
    sums.gpu_picoseconds += usage.gpu_picoseconds
    if usage.treatment is Treatment.PROBE:
        sums.pay("probes", amount)
    elif usage.treatment is Treatment.RETRIED:
        sums.pay("retried", amount)
    elif usage.treatment in INVALID:
        sums.pay("invalid", amount)


def _is_something(sums: _Sums) -> bool:
    """Tell an entry that was taken back and not made anew from one that holds."""
    counts = (sums.requests, sums.prompt_tokens, sums.completion_tokens, sums.gpu_picoseconds)
    return any(counts) or any(sums.amounts.values())


def _row(keys: tuple[str, ...], currency: str, sums: _Sums) -> Row:
    return Row(
        keys=keys,
        currency=currency,
        requests=sums.requests,
        prompt_tokens=sums.prompt_tokens,
        completion_tokens=sums.completion_tokens,
        gpu_picoseconds=sums.gpu_picoseconds,
        **sums.amounts,
    )


def _value(draft: Draft, item: Item, dimension: Dimension) -> str:
    usage = item.usage
    match dimension:
        case "tenant":
            return draft.tenant
        case "month":
            return draft.about
        case "hour":
            return utc_text(draft.start if usage is None else usage.hour)
        case "model" | "length_class" | "inference_mode" | "machine":
            return "" if usage is None else str(getattr(usage, dimension))
        case "treatment":
            return draft.subject if usage is None else str(usage.treatment)
        case "charge":
            raise TypeError("a charge is a value of its own")
