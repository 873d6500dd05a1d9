"""The life of an alert: a table of what happens, and what never may."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sla.alerts import Condition, Finding, Holds, Phase, moved

START = datetime(2026, 10, 14, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SAID = {"y": Holds.YES, "n": Holds.NO, "?": Holds.UNKNOWN}
SHOWN = {None: "-", Phase.PENDING: "p", Phase.FIRING: "F", Phase.FROZEN: "z", Phase.RESOLVED: "r"}


def condition(letter: str) -> Condition:
    return Condition(
        holds=SAID[letter], finding=Finding(rule="burn-1h"), why_unknown="a gap" if letter == "?" else ""
    )


def lived(letters: str, **limits: timedelta):
    """Return the alert after each letter, a minute apart."""
    alert, found = None, []
    for place, letter in enumerate(letters):
        alert = moved(alert, condition(letter), now=START + place * MINUTE, **limits)
        found.append(alert)
    return found


@pytest.mark.parametrize(
    ("letters", "limits", "phases"),
    [
        ("nyyn", {}, "-FFr"),
        ("yyyn", {"hold": 2 * MINUTE}, "ppFr"),
        ("yny", {"hold": 2 * MINUTE}, "p-p"),
        ("y??n", {}, "Fzzr"),
        ("y?y", {}, "FzF"),
        ("??n", {}, "---"),
        ("y?yy", {"hold": 3 * MINUTE}, "pzpF"),
        ("y?n", {"hold": 3 * MINUTE}, "pz-"),
        ("ynynnn", {"keep": 2 * MINUTE}, "FFFFFr"),
        ("yn?nnn", {"keep": 2 * MINUTE}, "FFzFFr"),
        ("yny", {}, "FrF"),
    ],
    ids=[
        "it fires and is resolved", "it has to hold", "nobody is told of what did not last",
        "frozen, then the data says that it is over", "frozen, then it goes on", "a gap begins no alert",
        "pending survives a gap", "pending, frozen, over", "flapping is damped",
        "time without data is no time without trouble", "a new alert after a resolved one",
    ],
)  # fmt: skip
def test_a_life(letters, limits, phases):
    assert "".join(SHOWN[each and each.phase] for each in lived(letters, **limits)) == phases


@given(st.text("yn?", min_size=1, max_size=30), st.integers(0, 3), st.integers(0, 3))
def test_what_holds_for_every_life(letters, hold, keep):
    before = None
    for place, letter in enumerate(letters):
        now = START + place * MINUTE
        after = moved(before, condition(letter), now=now, hold=hold * MINUTE, keep=keep * MINUTE)
        again = moved(before, condition(letter), now=now, hold=hold * MINUTE, keep=keep * MINUTE)
        assert after == again
        told = before is not None and before.phase is not Phase.RESOLVED
        if letter == "?" and told:
            assert after is not None, "data that stopped ended an alert"
            assert after.phase is Phase.FROZEN
            assert after.frozen_reason == "a gap"
        if letter == "n" and not told:
            assert after is None
        if told and after is not None:
            assert after.sequence == before.sequence + (after.phase is not before.phase)
            assert after.since == before.since
        if after is not None and after.phase is Phase.RESOLVED:
            assert letter == "n"
        before = after
