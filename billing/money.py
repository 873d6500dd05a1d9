"""Own money: the one rounding, shares that sum to the rounded total, tax, and amounts in Chinese words.

Amounts are exact fractions until a statement is made. There the total is rounded once, and its lines by the
largest remainder: each is the exact amount to less than one unit of the last digit, and together they are the total.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Rounding = Literal["half_up", "half_even", "down"]

_MOST_PLACES = 200
_DIGITS = "零壹贰叁肆伍陆柒捌玖"
_PLACES = ("", "拾", "佰", "仟")
_GROUPS = ("", "万", "亿", "万亿", "亿亿")
_GROUP = 10_000
_SMALL = "角分厘"


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """A currency, the digits of it that are paid, and the rule for what lies between two amounts."""

    code: str
    digits: int
    rounding: Rounding

    @property
    def _scale(self) -> int:
        scale: int = 10**self.digits
        return scale

    def rounded(self, amount: Fraction) -> Decimal:
        """Return an amount as it is paid; `half_up` is away from zero, `down` towards it."""
        return self._decimal(self._units(amount))

    def apportioned(self, amounts: Sequence[Fraction], *, total: Decimal | None = None) -> list[Decimal]:
        """Return each amount rounded so that all sum to `total`, by the largest remainder, the first of equals first.

        `total` is the rounded sum where it is not given; ValueError where it is further from the sum than lines
        can make good.
        """
        wanted = self._units(sum(amounts, Fraction(0))) if total is None else self._whole_units(total)
        scaled = [amount * self._scale for amount in amounts]
        units = [each.numerator // each.denominator for each in scaled]
        remainders = [each - whole for each, whole in zip(scaled, units, strict=True)]
        missing = wanted - sum(units)
        by_remainder = sorted(range(len(units)), key=lambda place: (-remainders[place], place))
        raised = [place for place in by_remainder if remainders[place] > 0][: max(missing, 0)]
        if missing != len(raised):
            raise ValueError(f"{len(amounts)} amounts cannot sum to {total}: {missing} units are missing")
        for place in raised:
            units[place] += 1
        return [self._decimal(each) for each in units]

    def _units(self, amount: Fraction) -> int:
        scaled = amount * self._scale
        if self.rounding == "half_even":
            return round(scaled)
        sign = -1 if scaled < 0 else 1
        size = abs(scaled) if self.rounding == "down" else abs(scaled) + Fraction(1, 2)
        return sign * (size.numerator // size.denominator)

    def _whole_units(self, amount: Decimal) -> int:
        scaled = Fraction(amount) * self._scale
        if scaled.denominator != 1:
            raise ValueError(f"{amount} has more than {self.digits} digits")
        return scaled.numerator

    def _decimal(self, units: int) -> Decimal:
        return Decimal((int(units < 0), tuple(map(int, str(abs(units)))), -self.digits))


def exact_decimal(value: Fraction) -> Decimal:
    """Return a fraction whose decimals end as exactly those decimals; ValueError for another."""
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
        if places > _MOST_PLACES:
            raise ValueError(f"{value} has no end of decimals")
    whole = (value * 10**places).numerator
    return Decimal((int(whole < 0), tuple(map(int, str(abs(whole)))), -places))


def chinese_words(amount: Decimal) -> str:
    """Return an amount of at most three decimals in the characters of 大写: 壹仟零伍元叁角整.

    As 《支付结算办法》 (appendix 1) has it; where it leaves a 零 to choice, it is written.
    """
    thousandths = Fraction(abs(amount)) * 1000
    if thousandths.denominator != 1:
        raise ValueError(f"{amount} has more than three decimals")
    whole, small = divmod(thousandths.numerator, 1000)
    sign = "负" if amount < 0 else ""
    if not small:
        return f"{sign}{_chinese_integer(whole)}元整"
    digits = f"{small:03d}".rstrip("0")
    parts = _chinese_small(digits, whole)
    ending = "" if len(digits) > 1 else "整"
    head = f"{_chinese_integer(whole)}元" if whole else ""
    return f"{sign}{head}{parts}{ending}"


def _chinese_small(digits: str, whole: int) -> str:
    """Return 角分厘; a gap between two digits is one 零, one after a 元 that ends in 0 too; none where there is no 元."""
    text, gap = "", bool(whole) and whole % 10 == 0
    for digit, unit in zip(digits, _SMALL, strict=False):
        if digit == "0":
            gap = bool(text) or whole > 0
            continue
        text += ("零" if gap else "") + _DIGITS[int(digit)] + unit
        gap = False
    return text


def _chinese_integer(number: int) -> str:
    if not number:
        return "零"
    groups: list[int] = []
    while number:
        number, group = divmod(number, _GROUP)
        groups.append(group)
    if len(groups) > len(_GROUPS):
        raise ValueError("the amount is too large to be written in words")
    text = ""
    for place, group in reversed(list(enumerate(groups))):
        if not group:
            continue
        is_gapped = bool(text) and (group < _GROUP // 10 or not groups[place + 1])
        text += ("零" if is_gapped else "") + _chinese_group(group) + _GROUPS[place]
    return text


def _chinese_group(group: int) -> str:
    text, gap = "", False
    for place in range(3, -1, -1):
        digit = group // 10**place % 10
        if not digit:
            gap = bool(text)
            continue
        text += ("零" if gap else "") + _DIGITS[digit] + _PLACES[place]
        gap = False
    return text
