"""Own languages: words from a catalogue, numbers, shares and dates as the language writes them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from babel import Locale
from babel.dates import format_date, format_datetime, format_time
from babel.numbers import NumberPattern, parse_pattern

from fairclock.documents.numbers import places_beside, rounded
from fairclock.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date, datetime
    from importlib.resources.abc import Traversable

_LOCALES = {"en": "en_GB", "zh": "zh_Hans_CN"}
"""English dates in the order day, month, year: no contract should depend on 10/11."""

_TAGS = {"en": "en", "zh": "zh-Hans"}

_PLURAL_FORMS = frozenset({"zero", "one", "two", "few", "many", "other"})

LANGUAGES = tuple(_LOCALES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language: its code, its BCP 47 tag, and its words."""

    code: str
    tag: str
    locale: Locale
    words: Mapping[str, str | Mapping[str, str]]

    def text(self, key: str, /, **values: Any) -> str:
        """Return the words of `key` with `values` put in; where they have plural forms, `n` chooses."""
        words = self.words[key]
        if not isinstance(words, str):
            number = values["n"]
            words = words[self.locale.plural_form(number)]
            values["n"] = self.integer(number)
        return words.format(**values)

    def has(self, key: str) -> bool:
        """Tell whether the catalogue knows `key`."""
        return key in self.words

    def integer(self, value: int) -> str:
        """Return `value` with its thousands grouped."""
        return str(_pattern(0).apply(value, self.locale))

    def decimal(self, value: Fraction, *, places: int) -> str:
        """Return `value` with exactly `places` decimals."""
        return str(_pattern(places).apply(rounded(value, places), self.locale))

    def beside(self, value: Fraction, thresholds: Iterable[Fraction], *, least: int) -> str:
        """Return `value` with at least `least` decimals, and enough to stay on its side of `thresholds`."""
        return self.decimal(value, places=places_beside(value, thresholds, least=least))

    def percent(self, ratio: Fraction, *, thresholds: Iterable[Fraction] = (), least: int) -> str:
        """Return `ratio` as a percentage; never 0 % or 100 % unless it is exactly that."""
        limits = [100 * threshold for threshold in (*thresholds, Fraction(0), Fraction(1))]
        return self.beside(100 * ratio, limits, least=least) + "%"

    def day(self, day: date) -> str:
        """Return a day in full: 1 October 2026, 2026年10月1日."""
        return str(format_date(day, format="long", locale=self.locale))

    def month(self, day: date) -> str:
        """Return the month of `day`: October 2026, 2026年10月."""
        return str(format_date(day, format={"zh": "y年M月"}.get(self.code, "MMMM y"), locale=self.locale))

    def instant(self, moment: datetime) -> str:
        """Return an instant in its own zone, to the second."""
        return f"{self.day(moment.date())} {format_time(moment, 'HH:mm:ss', locale=self.locale)}"

    def minute(self, moment: datetime) -> str:
        """Return an instant in its own zone, to the minute."""
        return str(self.day(moment.date()) + format_datetime(moment, " HH:mm", locale=self.locale))


@lru_cache(maxsize=32)
def _pattern(places: int) -> NumberPattern:
    """Return grouped thousands with so many decimals; to read such a pattern takes longer than to use it."""
    return parse_pattern("#,##0" + ("." + "0" * places if places else ""))


def load_language(code: str, catalogue: Traversable) -> Language:
    """Read ``CODE.toml`` in the folder `catalogue`; an unknown language is refused."""
    if code not in _LOCALES:
        raise DocumentError(
            "language", "unknown language", found=code, remedy=f"choose {' or '.join(LANGUAGES)}"
        )
    tree = tomllib.loads((catalogue / f"{code}.toml").read_text(encoding="utf-8"))
    return Language(code=code, tag=_TAGS[code], locale=Locale.parse(_LOCALES[code]), words=_flat(tree))


def _flat(tree: Mapping[str, object], prefix: str = "") -> dict[str, str | Mapping[str, str]]:
    """Return nested tables as dotted keys; a table of nothing but plural forms is one entry."""
    words: dict[str, str | Mapping[str, str]] = {}
    for key, value in tree.items():
        if isinstance(value, dict) and value.keys() <= _PLURAL_FORMS:
            words[prefix + key] = {form: str(text) for form, text in value.items()}
        elif isinstance(value, dict):
            words |= _flat(value, f"{prefix}{key}.")
        else:
            words[prefix + key] = str(value)
    return words
