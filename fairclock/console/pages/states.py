"""Own how states look: a word, a tone and a shape each, never a colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.console.readings.models.overview import State

if TYPE_CHECKING:
    from fairclock.console.pages.wording import Wording
    from fairclock.console.readings.models.figures import AlertFigures

_CONTRACTS = {
    State.VIOLATED: ("risk", "violated"),
    State.AT_RISK: ("risk", "risk"),
    State.UNKNOWN: ("", "open"),
    State.MET: ("good", "good"),
    State.NOT_BEGUN: ("", "open"),
}
_VERDICTS = {
    "met": ("good", "good"),
    "at_risk": ("risk", "risk"),
    "violated": ("risk", "violated"),
    "insufficient_data": ("", "open"),
    "not_measured": ("", "unmeasured"),
}
_ALERTS = {
    "firing": ("risk", "risk"),
    "pending": ("watch", "watch"),
    "frozen": ("", "unmeasured"),
    "resolved": ("good", "good"),
}
_EXCLUSIONS = {
    "proposed": ("watch", "open"),
    "accepted": ("good", "good"),
    "disputed": ("risk", "watch"),
    "automatic": ("good", "good"),
}
_OUTCOMES = {
    "ok": ("good", "good"),
    "client_error": ("", "open"),
    "client_aborted": ("", "open"),
    "quota_rejected": ("watch", "watch"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownState:
    """A state as it is shown."""

    word: str
    tone: str
    shape: str


def contract_state(state: State, words: Wording) -> ShownState:
    """Return how a contract stands."""
    return _shown(words.text(f"state.{state.value}"), _CONTRACTS[state])


def verdict_state(verdict: str | None, words: Wording, *, is_issued: bool) -> ShownState:
    """Return a verdict; until a report is issued a broken promise is "at risk"."""
    if verdict is None:
        return _shown(words.text("state.not_evaluated"), ("", "open"))
    key = "at_risk" if verdict == "violated" and not is_issued else verdict
    return _shown(words.word("verdict", key), _VERDICTS.get(key, ("", "open")))


def alert_state(alert: AlertFigures, words: Wording) -> ShownState:
    """Return an alert's phase."""
    return _shown(words.word("alert_state", alert.state), _ALERTS.get(alert.state, ("", "open")))


def exclusion_state(state: str, words: Wording) -> ShownState:
    """Return what has become of an exclusion."""
    return _shown(words.word("exclusions.state", state), _EXCLUSIONS.get(state, ("", "open")))


def outcome_state(outcome: str, words: Wording) -> ShownState:
    """Return how a request ended; what the client or its quota did is no failure of the service."""
    return _shown(words.word("outcomes", outcome), _OUTCOMES.get(outcome, ("risk", "risk")))


def plain_state(word: str, tone: str) -> ShownState:
    """Return a state in one of the tones good, risk, watch, or none ("")."""
    return _shown(word, (tone, tone or "open"))


def _shown(word: str, look: tuple[str, str]) -> ShownState:
    return ShownState(word=word, tone=look[0], shape=look[1])
