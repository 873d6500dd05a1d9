"""Own how a statement's figures and lines are written in a language."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from fairclock.documents.languages import Language, load_language
from fairclock.documents.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_PLACES = 12
_GPU_PLACES = 1


@lru_cache(maxsize=8)
def language_of(code: str) -> Language:
    """Return a language with the statement's words."""
    return load_language(code, resources.files("billing.invoices") / "words")


def description(line: Mapping[str, Any], language: Language) -> str:
    """Return what a line is about, in one phrase."""
    text = language.text
    kind = str(line["kind"])
    if line["section"] == "credits":
        return text("credit.title", objective=name(line["objective"]) or name(line["subject"]))
    key = f"kind.{kind.removeprefix('unpriced_')}"
    title = text(key) if language.has(key) else printable(kind)
    parts = [title, name(line["model"]), name(line["machine"]) if kind.endswith("gpu_seconds") else ""]
    if line["section"] == "adjustments" and line["subject"]:
        parts.append(_scope(str(line["subject"]), language))
    return text("joined").join(part for part in parts if part)


def remarks(line: Mapping[str, Any], statement: Mapping[str, Any], language: Language) -> list[str]:
    """Return what has to be said of a line beside its figures: why it costs nothing, whence a credit comes."""
    text = language.text
    said = []
    treatment = line["treatment"]
    if treatment and treatment != "completed":
        said.append(text(f"treatment.{treatment}"))
    if str(line["kind"]).startswith("unpriced_"):
        said.append(text("remark.unpriced"))
    if line["estimated"]:
        said.append(text("remark.estimated"))
    if line["section"] != "credits" and line["month"] != statement["month"]:
        said.append(text("remark.month", month=line["month"]))
    if line["price_version"] and len(statement["price_book"]["versions"]) > 1:
        said.append(text("remark.version", version=name(line["price_version"])))
    if line["section"] == "credits":
        said.append(
            text(
                "credit.remark",
                statement=name(line["statement"]) or text("nothing"),
                revision=text("nothing") if line["revision"] is None else language.integer(line["revision"]),
                month=line["month"],
            )
        )
        if "comes_to" in line:
            digits = int(statement["currency"]["digits"])
            both = {key: amount(line[key], language, digits) for key in ("granted", "comes_to")}
            said.append(text("credit.fallen", **both))
    return said


def unit(line: Mapping[str, Any], language: Language) -> str:
    """Return the unit of a quantity: ``request``, ``million tokens``, ``500 tokens``."""
    written = str(line["unit"])
    key = f"unit.{written.replace(' ', '_')}"
    if language.has(key):
        return language.text(key)
    per, _, rest = written.partition(" ")
    if per.isdigit() and language.has(f"unit.{rest}"):
        return language.text("unit.several", n=language.integer(int(per)), unit=language.text(f"unit.{rest}"))
    return printable(written)


def quantity(line: Mapping[str, Any], language: Language) -> str:
    """Return a quantity: GPU-seconds to 0.1 s, all else with the decimals it has."""
    value = Fraction(str(line["quantity"]))
    places = _GPU_PLACES if line["unit"] == "gpu_second" else _places(value)
    return language.decimal(value, places=places)


def unit_price(line: Mapping[str, Any], language: Language, digits: int) -> str:
    """Return a unit price with all its decimals, at least those of the currency."""
    if line["unit_price"] is None:
        return language.text("nothing")
    value = Fraction(str(line["unit_price"]))
    return language.decimal(value, places=max(digits, _places(value)))


def amount(value: object, language: Language, digits: int) -> str:
    """Return an amount with the currency's digits."""
    return language.decimal(Fraction(str(value)), places=digits)


def name(value: object) -> str:
    """Return a name that others wrote, made printable; an empty one for None."""
    return "" if value is None else printable(str(value))


def in_language(names: Mapping[str, str] | None, language: Language) -> str:
    """Return a name in a language, else in the other one."""
    if not names:
        return ""
    return name(names.get(language.code) or next(iter(names.values()), ""))


def _places(value: Fraction) -> int:
    return next(
        (places for places in range(_MOST_PLACES) if (value * 10**places).denominator == 1), _MOST_PLACES
    )


def _scope(subject: str, language: Language) -> str:
    _, _, rest = subject.partition(":")
    volume, _, models = rest.partition(":")
    if not volume:
        return ""
    key = f"kind.{volume}"
    shown = language.text(key) if language.has(key) else printable(volume)
    return shown if not models else f"{shown} ({printable(models.replace(':', ', '))})"
