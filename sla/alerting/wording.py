"""Own the words of alerts: one sentence in each language, and value and threshold as texts with their units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.documents.numbers import rounded

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from sla.alerts import Finding

_DAY, _HOUR, _MINUTE = 86_400, 3_600, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What is said of a finding; `value` None where there is none."""

    en: str
    zh: str
    threshold: str | None
    value: str | None


def burning(
    objective: str, contract: str, window_us: int, *, unit: tuple[str, str] = ("requests", "个请求")
) -> Callable[[Finding], Words]:
    """Say how fast a budget is used up; `unit` is what is counted."""
    window = _length(window_us / 1_000_000)

    def say(found: Finding) -> Words:
        value = None if found.value is None else f"{_number(found.value)}x"
        speed = f"{value} the allowed pace" if value else "faster than allowed"
        of = f"{found.bad or 0} of {found.counted or 0} {unit[0]}"
        return Words(
            en=f"{objective} of {contract} uses up its error budget at {speed}: {of} bad in {window}",
            zh=f"{contract} 的 {objective} 正以允许速度的 {_number(found.value)} 倍消耗错误预算："
            f"{window} 内 {found.counted or 0} {unit[1]}中 {found.bad or 0} 个不合格",
            threshold=None if found.threshold is None else f"{_number(found.threshold)}x the allowed pace",
            value=value,
        )

    return say


def shares(en: str, zh: str) -> Callable[[Finding], Words]:
    """Say that a share is too large; `en` and `zh` name it."""

    def say(found: Finding) -> Words:
        value, limit = percent(found.value), percent(found.threshold)
        return Words(
            en=f"{en}: {value or 'unknown'}, above {limit}",
            zh=f"{zh}：{value or '未知'}，高于 {limit}",
            threshold=limit,
            value=value,
        )

    return say


def durations(en: str, zh: str) -> Callable[[Finding], Words]:
    """Say that something lasted too long."""

    def say(found: Finding) -> Words:
        value = None if found.value is None else _length(float(found.value))
        limit = None if found.threshold is None else _length(float(found.threshold))
        return Words(
            en=f"{en}: {value or 'for ever'}, longer than {limit}",
            zh=f"{zh}：{value or '从未'}，超过 {limit}",
            threshold=limit,
            value=value,
        )

    return say


def amounts(en: str, zh: str, currency: str, *, places: int) -> Callable[[Finding], Words]:
    """Say that something costs too much; `en` and `zh` name it, amounts have `places`."""

    def money(value: Fraction | None) -> str | None:
        return None if value is None else f"{rounded(value, places):f} {currency}"

    def say(found: Finding) -> Words:
        value, limit = money(found.value), money(found.threshold)
        return Words(
            en=f"{en}: {value or 'unknown'}, above {limit}",
            zh=f"{zh}：{value or '未知'}，高于 {limit}",
            threshold=limit,
            value=value,
        )

    return say


def counts(en: str, zh: str) -> Callable[[Finding], Words]:
    """Say that something happened too often."""

    def say(found: Finding) -> Words:
        return Words(
            en=f"{en}: {found.bad or 0} of {found.counted or 0}",
            zh=f"{zh}：{found.counted or 0} 次中 {found.bad or 0} 次",
            threshold=None if found.threshold is None else _number(found.threshold),
            value=None if found.bad is None else str(found.bad),
        )

    return say


def percent(share: Fraction | None) -> str | None:
    """Return a share in percent."""
    return None if share is None else f"{_number(share * 100)} %"


def seconds(microseconds: int) -> str:
    """Return a duration as a contract writes it."""
    value = microseconds / 1_000_000
    return f"{value:g} s" if value >= 1 else f"{microseconds / 1000:g} ms"


def _number(value: Fraction | None) -> str:
    return "?" if value is None else f"{float(value):.4g}"


def _length(value: float) -> str:
    for unit, length in (("d", _DAY), ("h", _HOUR), ("min", _MINUTE)):
        if value >= length and value % length == 0:
            return f"{value / length:g} {unit}"
    return f"{value / _MINUTE:.1f} min" if value >= _MINUTE else f"{value:.3g} s"
