"""Own the statement's face: the dictionary and a language in, one self-contained HTML page out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from babel.numbers import get_currency_name

from billing.invoices import wording
from billing.invoices.canonical import statement_sha256
from billing.invoices.wording import amount, in_language, language_of, name
from fairclock.documents.fonts import CHINESE, LATIN, MONOSPACED
from fairclock.documents.templates import environment
from fairclock.model.zones import zone_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Template

    from fairclock.documents.languages import Language

_FONT_STACKS = {
    # The reader's own fonts stand in where Noto is not installed; the PDF knows no others.
    "en": f"'{LATIN}', '{CHINESE}', 'Helvetica Neue', Arial, sans-serif",
    "zh": f"'{CHINESE}', '{LATIN}', 'PingFang SC', 'Microsoft YaHei', sans-serif",
}
_CODE_STACK = f"'{MONOSPACED}', 'DejaVu Sans Mono', Menlo, Consolas, monospace"
_EINVOICE = ("type", "item_name", "tax_classification_code", "recipient")
_SHOWN_OF_A_HASH = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A label and what stands beside it, one text a line."""

    label: str
    lines: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line as it is printed."""

    number: str
    description: str
    remarks: list[str]
    quantity: str
    unit: str
    unit_price: str
    net: str
    tax_rate: str
    tax: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """A total as it is printed; `level` is how much it weighs to the eye, from 0 on."""

    label: str
    text: str
    level: int = 0


def statement_html(statement: Mapping[str, Any], code: str) -> str:
    """Return the statement as HTML in the language `code`; the PDF is made of the same text."""
    language = language_of(code)
    number = name(statement["number"]) or language.text("document.unnumbered")
    month = language.month(date.fromisoformat(f"{statement['month']}-01"))
    return _template().render(
        t=language.text,
        language=language,
        fonts=_FONT_STACKS[code],
        code_fonts=_CODE_STACK,
        kind=language.text(f"document.kind_{statement['kind']}"),
        number=number,
        month=month,
        status=language.text(f"status.{statement['status']}"),
        is_draft=statement["status"] == "draft",
        simulated=bool(statement["simulated"]),
        created=datetime.fromisoformat(str(statement["as_of"]))
        .astimezone(UTC)
        .strftime("%Y-%m-%dT%H:%M:%SZ"),
        author=_party_name(statement["issuer"], language),
        parties=_parties(statement, language),
        facts=_facts(statement, language, number),
        sections=_sections(statement, language),
        sums=_sums(statement, language),
        words=_words(statement) if code == "zh" else None,
        einvoice=_einvoice(statement, language),
        hash=statement_sha256(statement),
        version=name(statement["software_version"]),
        as_of=_instant(statement, statement["as_of"], language),
        currency=name(statement["currency"]["code"]),
    )


def _parties(statement: Mapping[str, Any], language: Language) -> list[Fact]:
    text = language.text
    found = []
    for key in ("issuer", "customer"):
        party = statement[key]
        lines = [_party_name(party, language) or text("nothing")]
        if party is not None:
            if party["registration_id"]:
                lines.append(text("facts.registration", id=name(party["registration_id"])))
            lines += [
                each for each in (in_language(party["address"], language), name(party["contact"])) if each
            ]
            if party["bank"]:
                lines.append(text("facts.bank", bank=name(party["bank"])))
        if key == "customer":
            lines.append(text("facts.tenant", name=name(statement["tenant"])))
        found.append(Fact(label=text(f"facts.{key}"), lines=lines))
    return found


def _facts(statement: Mapping[str, Any], language: Language, number: str) -> list[Fact]:
    text = language.text
    zone = str(statement["time_zone"])
    periods = {
        key: text(
            "facts.until",
            start=_minute(statement, statement[f"{key}_period"]["from"], language),
            end=_minute(statement, statement[f"{key}_period"]["to"], language),
            zone=name(zone),
        )
        for key in ("service", "billing")
    }
    said = [
        ("number", [number]),
        ("status", [text(f"status.{statement['status']}")]),
        ("issued_on", [_day(statement["issued_on"], language)]),
        ("due_on", [_day(statement["due_on"], language)]),
        ("corrects", [name(statement["corrects"])] if statement["corrects"] else []),
        ("contract", [name(statement["contract"]) or text("nothing")]),
        ("order", [name(statement["order_number"]) or text("nothing")]),
        ("service", [periods["service"]]),
        ("billing", [periods["billing"]]),
        ("prices", _prices(statement, language)),
        ("currency", [name(statement["currency"]["code"])]),
        ("exchange", _exchange(statement, language)),
        ("as_of", [_instant(statement, statement["as_of"], language)]),
    ]
    return [Fact(label=text(f"facts.{key}"), lines=lines) for key, lines in said if lines]


def _prices(statement: Mapping[str, Any], language: Language) -> list[str]:
    book = statement["price_book"]
    return [
        language.text(
            "facts.prices_version",
            book=name(book["id"]),
            version=f"{name(each['name'])} ({each['sha256'][:_SHOWN_OF_A_HASH]})",
            start=_minute(statement, each["from"], language),
        )
        for each in book["versions"]
    ] or [name(book["id"])]


def _exchange(statement: Mapping[str, Any], language: Language) -> list[str]:
    rate = statement["exchange"]
    if rate is None:
        return []
    return [
        language.text(
            "facts.exchange_text",
            of=name(statement["currency"]["code"]),
            rate=rate["rate"],
            to=name(rate["to"]),
            source=name(rate["source"]),
            day=language.day(date.fromisoformat(rate["on"])),
        )
    ]


def _sections(statement: Mapping[str, Any], language: Language) -> list[tuple[str, list[Row]]]:
    digits = int(statement["currency"]["digits"])
    return [
        (
            language.text(f"section.{section}"),
            [
                Row(
                    number=str(line["number"]),
                    description=wording.description(line, language),
                    remarks=wording.remarks(line, statement, language),
                    quantity=wording.quantity(line, language),
                    unit=wording.unit(line, language),
                    unit_price=wording.unit_price(line, language, digits),
                    net=amount(line["net"], language, digits),
                    tax_rate=line["tax_rate"],
                    tax=amount(line["tax"], language, digits),
                )
                for line in lines
            ],
        )
        for section, lines in groupby(statement["lines"], key=lambda line: line["section"])
    ]


def _sums(statement: Mapping[str, Any], language: Language) -> list[Sum]:
    text, totals = language.text, statement["totals"]
    digits, code = int(statement["currency"]["digits"]), name(statement["currency"]["code"])

    def money(value: object) -> str:
        return amount(value, language, digits)

    tax_name = in_language(statement["tax_name"], language) or text("totals.tax_name")
    found = [Sum(label=text("totals.net"), text=money(totals["net"]), level=1)]
    if any(line["section"] == "credits" for line in statement["lines"]):
        found.append(Sum(label=text("totals.credits"), text=money(totals["credits"])))
    found += [
        Sum(
            label=text("totals.tax_of", name=tax_name, rate=each["rate"], net=money(each["net"])),
            text=money(each["tax"]),
        )
        for each in totals["by_tax_rate"]
    ]
    found += [
        Sum(label=text("totals.tax"), text=money(totals["tax"]), level=1),
        Sum(label=f"{text('totals.gross')} ({code})", text=money(totals["gross"]), level=2),
        Sum(label=text("totals.opening"), text=money(totals["opening_balance"])),
        Sum(label=f"{text('totals.due')} ({code})", text=money(totals["due"]), level=2),
    ]
    rate = statement["exchange"]
    if rate is not None:
        into = amount(rate["gross"], language, int(rate["digits"]))
        found.append(Sum(label=text("totals.gross_in", to=name(rate["to"])), text=into))
    return found


def _words(statement: Mapping[str, Any]) -> str:
    """Return 价税合计 in 大写, the currency's Chinese name before it."""
    code = str(statement["currency"]["code"])
    return f"{get_currency_name(code, locale='zh_Hans_CN')}{statement['totals']['gross_in_chinese']}"


def _einvoice(statement: Mapping[str, Any], language: Language) -> list[Fact]:
    given = statement["einvoice"]
    return [
        Fact(label=language.text(f"einvoice.{key}"), lines=[name(given[key])])
        for key in _EINVOICE
        if given.get(key)
    ]


def _party_name(party: Mapping[str, Any] | None, language: Language) -> str:
    return "" if party is None else in_language(party["name"], language)


def _local(statement: Mapping[str, Any], instant: str) -> datetime:
    return datetime.fromisoformat(instant).astimezone(zone_of(str(statement["time_zone"])))


def _minute(statement: Mapping[str, Any], instant: str, language: Language) -> str:
    return language.minute(_local(statement, instant))


def _instant(statement: Mapping[str, Any], instant: str, language: Language) -> str:
    return language.instant(_local(statement, instant))


def _day(day: str | None, language: Language) -> str:
    return language.text("nothing") if day is None else language.day(date.fromisoformat(day))


@lru_cache(maxsize=1)
def _template() -> Template:
    return environment("billing.invoices").get_template("statement.html.j2")
