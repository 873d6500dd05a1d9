"""Own the words and figures of pages: what is said in the reader's language, and how numbers are written."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from babel.numbers import format_currency, format_decimal
from markupsafe import Markup

from fairclock.documents.languages import load_language
from fairclock.documents.numbers import exact
from fairclock.documents.text import printable
from fairclock.model import utc_text
from sla.reports.html import language_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from zoneinfo import ZoneInfo

    from fairclock.documents.languages import Language

_ISOLATE, _END = "\u2068", "\u2069"
_LEFTWARD = frozenset({"R", "AL", "AN"})
_MOST_MONEY_PLACES = 12
_SECONDS_PLACES = 3
_MOST_SECONDS_PLACES = 6
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_TEN = 10


@lru_cache(maxsize=4)
def console_language(code: str) -> Language:
    """Return a language with the console's words."""
    return load_language(code, resources.files("fairclock.console") / "words")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The words of one language, and its numbers; instants are told in `zone`.

    `own` has the console's words, `shared` those of the report: clocks, outcomes, phases, verdicts and findings
    are called the same in both.
    """

    own: Language
    shared: Language
    zone: ZoneInfo

    def text(self, key: str, /, **values: Any) -> str:
        """Return the console's words for `key`; names in `values` are isolated from the words around them."""
        return self.own.text(key, **{name: _apart(value) for name, value in values.items()})

    def word(self, group: str, key: str | None) -> str:
        """Return the report's word, else the console's, for `key` of a group; an unknown one as it is."""
        if key is None:
            return self.own.text("nothing")
        for language in (self.shared, self.own):
            if language.has(f"{group}.{key}"):
                return language.text(f"{group}.{key}")
        return printable(key)

    def integer(self, value: float | None) -> str:
        """Return a count."""
        return self._nothing if value is None else self.own.integer(int(value))

    def seconds(self, value: float | None, *, thresholds: Iterable[float] = ()) -> str:
        """Return seconds to the millisecond; shorter ones to the digits they have, on their side of `thresholds`."""
        if value is None:
            return self._nothing
        given = exact(value)
        places = _SECONDS_PLACES
        while places < _MOST_SECONDS_PLACES and 0 < abs(given) * 10**places < 1:
            places += 1
        return self.own.beside(given, [exact(each) for each in thresholds], least=places)

    def ratio(self, value: float | None, *, thresholds: Iterable[float] = (), least: int = 1) -> str:
        """Return a share as a percentage; never 0 % or 100 % unless it is exactly that."""
        if value is None:
            return self._nothing
        return self.own.percent(exact(value), thresholds=[exact(each) for each in thresholds], least=least)

    def number(self, value: float | None, *, places: int = 1) -> str:
        """Return a number that is neither a time nor a share."""
        return self._nothing if value is None else self.own.decimal(exact(value), places=places)

    def times(self, value: float | None) -> str:
        """Return how many times as much: 0.4×, 14×."""
        if value is None:
            return self._nothing
        return f"{self.own.decimal(exact(value), places=0 if value >= _TEN else 1)}×"

    def money(self, value: str | None, currency: str | None, *, places: int = 2) -> str:
        """Return an amount with its currency; every digit that the ledger has, `places` at least."""
        if value is None:
            return self._nothing
        digits = "#,##0." + "0" * places + "#" * (_MOST_MONEY_PLACES - places)
        locale, amount = self.own.locale, Decimal(value)
        if currency is None:
            return str(format_decimal(amount, format=digits, locale=locale))
        return str(
            format_currency(amount, currency, format=f"¤{digits}", locale=locale, currency_digits=False)
        )

    def length(self, value: float | None) -> str:
        """Return a length of time as people say it: its two greatest units."""
        if value is None:
            return self._nothing
        whole = round(value)
        if whole < _MINUTE:
            return self.own.text("length.seconds", seconds=self.own.integer(whole))
        parts = (
            ("days", whole // _DAY),
            ("hours", whole % _DAY // _HOUR),
            ("minutes", whole % _HOUR // _MINUTE),
            ("seconds", whole % _MINUTE),
        )
        first = next(index for index, (_, amount) in enumerate(parts) if amount)
        said = [
            self.own.text(f"length.{unit}", **{unit: self.own.integer(amount)})
            for unit, amount in parts[first : first + 2]
            if amount
        ]
        return self.own.text("length.space").join(said)

    def local(self, moment: datetime) -> datetime:
        """Return an instant in the page's zone."""
        return moment.astimezone(self.zone)

    def instant(self, moment: datetime | None, *, seconds: bool = False) -> Markup | str:
        """Return an instant in the page's zone, to the minute or the second, with its UTC form for machines."""
        if moment is None:
            return self._nothing
        shown = self.local(moment).strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")
        return Markup('<time datetime="{}" class="nowrap">{}</time>').format(utc_text(moment), shown)

    def span(self, starts_at: datetime, ends_at: datetime) -> Markup:
        """Return a stretch of time; a day that both ends share is said once."""
        first, last = self.local(starts_at), self.local(ends_at)
        ending = last.strftime("%H:%M" if first.date() == last.date() else "%Y-%m-%d %H:%M")
        return Markup('{}<span class="nowrap"> – <time datetime="{}">{}</time></span>').format(
            self.instant(starts_at), utc_text(ends_at), ending
        )

    def in_language(self, texts: Mapping[str, str]) -> str:
        """Return the text in the reader's language, else in any that there is."""
        found = texts.get(self.own.code) or next(iter(texts.values()), "")
        return printable(found) or self._nothing

    def offset(self, moment: datetime) -> str:
        """Return the page's zone with its difference to UTC at an instant."""
        difference = self.local(moment).utcoffset() or timedelta(0)
        sign = "-" if difference < timedelta(0) else "+"
        minutes = abs(int(difference.total_seconds())) // _MINUTE
        return f"UTC{sign}{minutes // _MINUTE:02d}:{minutes % _MINUTE:02d}"

    @property
    def _nothing(self) -> str:
        return self.own.text("nothing")


def wording(code: str, zone: ZoneInfo) -> Wording:
    """Return the words of the language `code`."""
    return Wording(own=console_language(code), shared=language_of(code), zone=zone)


def bidirectional(name: object) -> Markup:
    """Return a name that others wrote: printable, and apart from the direction of the text around it."""
    return Markup("<bdi>{}</bdi>").format(printable(str(name)))


def _apart(value: Any) -> Any:
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    shown = printable(value)
    turns = any(unicodedata.bidirectional(each) in _LEFTWARD for each in shown)
    return f"{_ISOLATE}{shown}{_END}" if turns else shown
