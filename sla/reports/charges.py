"""Own how charges and service credits are printed: the month's sums, and each credit with its dates."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from fairclock.documents.text import printable
from sla.reports.reading import day, is_evaluated, moment, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairclock.documents.languages import Language
    from sla.reports.reading import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditRow:
    """One credit; every field is text, dates are days in the contract's zone."""

    objective: str
    part: str
    tier: str
    basis: str
    amount: str
    state: str
    claimed_until: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """What one kind of usage is charged; every field is text."""

    model: str
    length_class: str
    mode: str
    treatment: str
    requests: str
    tokens: str
    net: str


def charges_sentence(report: Report, language: Language) -> str:
    """Return what the first page says of money: sums with tax, credits by their state, the last day to claim."""
    if not is_evaluated(report, "amounts"):
        return language.text("charges.text")
    amounts = report["amounts"]
    values = {
        name: _money(amounts, name, language)
        for name in ("net", "tax", "gross", "credits_granted", "credits_claimable")
    }
    said = [language.text("charges.sums", currency=printable(str(amounts["currency"])), **values)]
    expired = [each for each in report.get("credits") or [] if each.get("state") == "expired"]
    if expired:
        said.append(language.text("charges.expired", n=len(expired)))
    days = sorted(
        {
            each["claim"]["last_day"]
            for each in report.get("credits") or []
            if each.get("state") in {"computed", "claimable"} and each["claim"].get("last_day")
        }
    )
    if days:
        said.append(language.text("charges.deadline", day=language.day(day(days[0]))))
    return language.text("sentence_space").join(said)


def credit_rows(report: Report, language: Language) -> list[CreditRow]:
    """Return the credits in the report's order."""
    zone = ZoneInfo(str(report["period"]["time_zone"]))
    return [
        _credit(each, language, zone, places=_places(report))
        for each in report.get("credits") or []
        if isinstance(each.get("claim"), dict)
    ]


def cost_rows(report: Report, language: Language) -> list[CostRow]:
    """Return the lines of the month's charges; none where nothing was rated."""
    cost = report.get("cost") or {}
    nothing = language.text("nothing")
    return [
        CostRow(
            model=printable(str(each["model"])) or nothing,
            length_class=_word("length", str(each["length_class"]), language) or nothing,
            mode=printable(str(each["inference_mode"])) or nothing,
            treatment=_treatment(str(each["treatment"]), language),
            requests=language.integer(each["requests"]),
            tokens=language.integer(each["prompt_tokens"] + each["completion_tokens"]),
            net=_money(each, "net", language),
        )
        for each in cost.get("lines") or []
    ]


def _treatment(name: str, language: Language) -> str:
    """Return how requests ended; or which adjustment at close a line is, and of what: ``graduated:tokens``."""
    kind, _, of = name.partition(":")
    if not of:
        return _word("ended", kind, language) if kind else language.text("nothing")
    return language.text(
        "charges.adjustment", kind=_word("closing", kind, language), of=_word("closing", of, language)
    )


def _word(group: str, name: str, language: Language) -> str:
    key = f"charges.{group}.{name}"
    return language.text(key) if language.has(key) else printable(name)


def _places(report: Report) -> int:
    """Return how many decimals the month's currency has."""
    amounts = report.get("amounts") or {}
    return len(str(amounts.get("net", "0.00")).partition(".")[2])


def _tier(text: str, language: Language) -> str:
    """Return a tier in the language's words; what is no tier of a verdict stays as it is."""
    return " + ".join(_one_tier(each, language) for each in text.split(" + "))


def _one_tier(text: str, language: Language) -> str:
    condition, _, credit = text.rpartition(": ")
    if condition == "violated":
        return language.text("charges.tier_violated", credit=printable(credit))
    if condition.startswith("below "):
        ratio = printable(condition.removeprefix("below "))
        return language.text("charges.tier_below", ratio=ratio, credit=printable(credit))
    return printable(text)


def _basis(basis: Mapping[str, Any], language: Language, *, places: int) -> str:
    """Return the fees that a credit is a share of, rounded; report.json has them exactly."""
    text = str(basis.get("amount", ""))
    return language.decimal(Fraction(text), places=places) if text else ""


def _credit(each: Mapping[str, Any], language: Language, zone: ZoneInfo, *, places: int) -> CreditRow:
    nothing = language.text("nothing")
    key = f"charges.state.{each['state']}"
    basis = each.get("basis") or {}
    last = each["claim"].get("last_day")
    opens = moment(each["claim"]["opens_at"], zone).date()
    until = language.text("charges.claim_open", opens=language.day(opens))
    if last:
        until = language.text("charges.claim_days", opens=language.day(opens), closes=language.day(day(last)))
    return CreditRow(
        objective=printable(str(each["objective"])),
        part=printable(str(each.get("part") or "")),
        tier=_named_tier(each, language),
        basis=" ".join(
            part
            for part in (
                _basis(basis, language, places=places),
                printable(str(basis.get("model") or "")),
            )
            if part
        )
        or nothing,
        amount=_amount(each, language),
        state=language.text(key) if language.has(key) else printable(str(each["state"])),
        claimed_until=until,
        id=printable(str(each["id"])),
    )


def _amount(each: Mapping[str, Any], language: Language) -> str:
    """Return what a credit comes to before tax and with it, and what it was claimed as or comes to by now where that differs; a report of before says no tax of it."""
    net = _money(each, "amount", language)
    if each.get("amount_with_tax") is not None:
        net = language.text("charges.with_tax", amount=net, gross=_money(each, "amount_with_tax", language))
    claimed = each.get("claimed_as")
    if claimed and claimed["amount"] != each["amount"]:
        net = language.text("charges.claimed_as", amount=net, claimed=_money(claimed, "amount", language))
    if each["state"] in {"claimed", "granted"} and each.get("amount_now", each["amount"]) != each["amount"]:
        net = language.text("charges.amount_now", amount=net, now=_money(each, "amount_now", language))
    return net


def _named_tier(each: Mapping[str, Any], language: Language) -> str:
    """Return a credit's tier, and the credit that it is further to."""
    tier = _tier(str(each["tier"]), language)
    if not each.get("further_to"):
        return tier
    return language.text("charges.further_to", tier=tier, first=printable(str(each["further_to"])))


def _money(values: Mapping[str, Any], key: str, language: Language) -> str:
    """Return an amount with the decimals that it was written with; it was rounded where it was made."""
    text = str(values.get(key, ""))
    value = number(text) if text and "/" not in text else None
    if value is None:
        return printable(text)
    places = len(text.partition(".")[2])
    return language.decimal(value, places=places)
