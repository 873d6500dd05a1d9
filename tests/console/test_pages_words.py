"""The console's words: the same in both languages, all there, none that nobody says."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, get_args

import pytest

from fairclock.console.access.gate import Refusal
from fairclock.console.pages.rendering import FACES
from fairclock.console.pages.wording import console_language
from fairclock.console.readings.models.base import Anchor, Lack
from fairclock.console.readings.models.overview import State
from fairclock.console.readings.models.requests import RequestRow
from fairclock.model import Outcome
from fairclock.model.probes import ProbeOutcome
from fairclock.store.kinds import Kind
from sla.alerting.configuration import SeverityName
from sla.alerts.lives import Phase
from sla.exclusions.checking import DoubtKind
from sla.exclusions.rules import CLIENT_NETWORK, COLD_START, MAINTENANCE

if TYPE_CHECKING:
    from collections.abc import Iterable

CONSOLE = Path(__file__).parents[2] / "fairclock" / "console"
CODES = ["en", "zh"]


def each(prefix: str, names: Iterable[object], suffix: str = "") -> set[str]:
    return {f"{prefix}.{name}{suffix}" for name in names}


ENGINES = get_args(RequestRow.model_fields["engine"].annotation)
MADE_UP = {
    *each("state", [*State, "not_evaluated"]),
    *each("lack", Lack, ".title"),
    *each("lack", Lack, ".text"),
    *each("method", Anchor, ".title"),
    *each("method", Anchor, ".text"),
    *(f"{name}.title" for name in FACES),
    *each("alert_state", Phase),
    *each("severity", get_args(SeverityName)),
    *each("source_kind", get_args(Kind)),
    *each("doubt", DoubtKind),
    *each(
        "clause",
        [
            MAINTENANCE, COLD_START, CLIENT_NETWORK,
            "force_majeure", "customer_action", "attack_on_customer", "third_party_network",
        ],
    ),
    *each("reporter", ["span", "plugin"]),
    *each("requests.engine", [name for name in ENGINES if name != "joined"]),
    *each("flag", ["simulated", "quarantined", "ambiguous", "unconfirmed", "retried", "preempted"]),
    *each("sign_in", [*(refusal.name.lower() for refusal in Refusal), "stale"]),
    *each("problem", ["not_found", "not_allowed", "wrong", "not_evaluable", "busy", "store", "failure", "stale", "unknown", "too_many"], ".title"),
    *each("problem", ["not_found", "not_allowed", "wrong", "not_evaluable", "busy", "store", "failure", "stale", "unknown", "too_many"], ".text"),
    *each("theme", ["auto", "light", "dark"]),
    *each("range", ["1h", "24h", "7d", "month"]),
    *each("length", ["days", "hours", "minutes", "seconds"]),
    *each("besides", ["unconfirmed", "quarantined", "ambiguous", "retried"]),
    *each("gauge", ["waiting", "running", "kv_cache"]),
    *each("incident_state", ["ongoing", "ended"]),
    *each("tenant", ["tile_end_to_end", "tile_excluding_queue", "tile_time_to_first_token"]),
    *each("cost", ["tenants", "probes", "idle", "unattributed", "tile_gross", "tile_per_1000", "tile_granted", "tile_claimable"]),
    *each("probes", ["p50", "p99", "lateness"]),
    *each("outcomes", {*ProbeOutcome} - {*map(str, Outcome)}),
    *each(
        "fact",
        [
            "tenant", "model", "route", "region", "status", "error_code", "upstream", "trace_id", "stream",
            "inference_mode", "model_version", "prompt_tokens", "cached_tokens", "completion_tokens",
        ],
    ),
}  # fmt: skip
"""Keys that are put together when a page is made, by what they are put together of."""


def _fields(words: object) -> set[str]:
    texts = [words] if isinstance(words, str) else list(words.values())  # type: ignore[attr-defined]
    return {name for text in texts for _, name, _, _ in Formatter().parse(text) if name is not None}


def _written() -> set[str]:
    """Return every key that stands in a template or a module as it is."""
    sources = [*CONSOLE.glob("templates/*.j2"), *CONSOLE.glob("pages/**/*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    return set(re.findall(r"""["']([a-z0-9_]+(?:\.[a-z0-9_]+)*)["']""", text))


def test_both_languages_have_the_same_keys() -> None:
    english, chinese = (console_language(code).words for code in CODES)
    assert english.keys() == chinese.keys()


def test_both_languages_have_the_same_fields_in_each_text() -> None:
    english, chinese = (console_language(code).words for code in CODES)
    different = {key for key in english if _fields(english[key]) != _fields(chinese[key])}
    assert not different


def test_no_chinese_word_is_english_by_oversight() -> None:
    english, chinese = (console_language(code).words for code in CODES)
    same = {
        key for key in english if english[key] == chinese[key] and re.search("[a-z]{3}", str(english[key]))
    }
    assert not same


@pytest.mark.parametrize("key", sorted(MADE_UP))
def test_what_is_put_together_has_words(key: str) -> None:
    assert console_language("en").has(key)


def test_no_word_is_there_that_nobody_says() -> None:
    unsaid = set(console_language("en").words) - MADE_UP - _written()
    assert not unsaid


def test_every_written_key_that_looks_like_one_has_words() -> None:
    """Keys in ``t('…')`` and ``text("…")`` are there; a page would fail on one that is not."""
    sources = [*CONSOLE.glob("templates/*.j2"), *CONSOLE.glob("pages/**/*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    called = set(re.findall(r"""\bt\('([a-z0-9_.]+)'[,)]""", text))
    called |= set(re.findall(r"""words\.text\(\s*"([a-z0-9_.]+)"[,)]""", text))
    assert called - set(console_language("en").words) == set()
    assert len(called) > 150
