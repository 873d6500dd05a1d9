"""Own the checks of named periods and of the holidays they rest on."""

# Rules state what holds, not what they do.
# ruff: noqa: D401

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.clauses.problems import Problem
from fairclock.clauses.quantities import MINUTES_PER_DAY, read_time_of_day
from fairclock.clauses.suggestions import closest
from sla.calendars.holidays import calendar_exists, country_codes, moves_workdays
from sla.contracts.consistency.tree import items_at, mapping_at, quantity_at, text_at
from sla.contracts.where import PERIOD_NAME, RESERVED_PERIOD_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.clauses.source import Tree

OWN_KEYS = frozenset({"holidays", "makeup_workdays"})


def period_names(tree: Tree) -> list[str]:
    """Return the names of the periods that a calendar defines."""
    return [key for key in mapping_at(tree, "calendar") if key not in OWN_KEYS]


def periods_are_named_and_filled(tree: Tree) -> Iterator[Problem]:
    """A period has a name that `during` can hold, and at least one rule."""
    for name in period_names(tree):
        path = ("calendar", name)
        value = mapping_at(tree, "calendar")[name]
        if not PERIOD_NAME.fullmatch(name) or name in RESERVED_PERIOD_NAMES:
            yield Problem(
                path=path,
                problem="cannot be a period's name",
                remedy="begin with a letter and go on with letters, digits, dashes and underscores",
            )
        elif not isinstance(value, tuple):
            near = closest(name, OWN_KEYS)
            yield Problem(
                path=path,
                problem="is not a list of rules, as a named period is",
                remedy=f"did you mean {near}?"
                if near
                else 'write [{days: workdays, from: "09:30", to: "11:30"}]',
            )
        elif not value:
            yield Problem(
                path=path,
                problem="is an empty list",
                remedy='write [{days: workdays, from: "09:30", to: "11:30"}]',
            )


def rules_cover_time(tree: Tree) -> Iterator[Problem]:
    """A rule starts within a day and does not end when it starts."""
    for name in period_names(tree):
        for path, rule in items_at(tree, "calendar", name):
            start = quantity_at(read_time_of_day, rule, "from")
            end = quantity_at(read_time_of_day, rule, "to")
            if start == MINUTES_PER_DAY:
                yield Problem(
                    path=(*path, "from"),
                    problem="is the end of a day, where nothing starts",
                    found='"24:00"',
                    remedy='write "00:00"',
                )
            elif start is not None and start == end:
                yield Problem(
                    path=(*path, "to"),
                    problem="is the same time as `from`",
                    found=f'"{rule["to"]}"',
                    remedy='write "00:00" to "24:00" for the whole day',
                )


def workdays_have_holidays(tree: Tree) -> Iterator[Problem]:
    """Who says `workdays` says which holidays."""
    if "holidays" in mapping_at(tree, "calendar"):
        return
    remedy = "add calendar.holidays: CN (a country's code), or name weekdays such as mon-fri"
    for name in period_names(tree):
        for path, rule in items_at(tree, "calendar", name):
            if text_at(rule, "days") == "workdays":
                yield Problem(
                    path=(*path, "days"),
                    problem="needs to know the holidays",
                    found='"workdays"',
                    remedy=remedy,
                )
    for key in ("opens", "closes"):
        text = text_at(tree, "credits", "claim", key)
        if text is not None and "workday" in text:
            yield Problem(
                path=("credits", "claim", key),
                problem="needs to know the holidays",
                found=f'"{text}"',
                remedy="add calendar.holidays: CN (a country's code), or count days",
            )


def holidays_exist(tree: Tree) -> Iterator[Problem]:
    """The holiday calendar is one that is known, and moves workdays if the contract says so."""
    code = text_at(tree, "calendar", "holidays")
    if code is None:
        return
    path = ("calendar", "holidays")
    if not calendar_exists(code):
        near = closest(code, country_codes())
        remedy = f"did you mean {near}?" if near else "write a country's code, such as CN, US or DE-BY"
        yield Problem(path=path, problem="is not a holiday calendar", found=f'"{code}"', remedy=remedy)
    elif text_at(tree, "calendar", "makeup_workdays") == "true" and not moves_workdays(code):
        yield Problem(
            path=("calendar", "makeup_workdays"),
            problem="asks for moved workdays of a calendar that moves none",
            found=code,
            remedy="write makeup_workdays: false",
        )


RULES = (periods_are_named_and_filled, rules_cover_time, workdays_have_holidays, holidays_exist)
