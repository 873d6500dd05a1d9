"""Own the words of dashboards: titles, how each number is measured, names of columns and states, in each language."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dashboards.specification import Panel, Source

LANGUAGES = ("en", "zh")
_LABEL = re.compile(r"\[\[(\w+)\]\]")
_SQL = {
    "alert_summary": {"en": "summary_en", "zh": "summary_zh"},
    "contract_title": {"en": "title_en", "zh": "title_zh"},
}
"""Labels that stand for a column, not for a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The catalogue of one language."""

    language: str
    boards: Mapping[str, Mapping[str, str]]
    rows: Mapping[str, str]
    panels: Mapping[str, Mapping[str, str]]
    variables: Mapping[str, str]
    marks: Mapping[str, str]
    labels: Mapping[str, str]
    states: Mapping[str, str]
    phrases: Mapping[str, str]

    def label(self, key: str) -> str:
        """Return the name of a column or series; a key that is no label is its own name."""
        return self.labels.get(key, key)

    def filled(self, text: str) -> str:
        """Return `text` with each label, such as ``[[contract]]``, in this language; KeyError names one that is missing."""
        return _LABEL.sub(lambda found: self._said(found[1]), text)

    def _said(self, key: str) -> str:
        return _SQL[key][self.language] if key in _SQL else self.labels[key]

    def title(self, panel: Panel, source: Source) -> str:
        """Return a panel's title; what another data source cannot know is called otherwise there."""
        said = self.panels[panel.key]
        return said.get(f"title_{source}", said["title"])

    def description(self, panel: Panel, source: Source) -> str:
        """Return what a panel shows, and how that is measured."""
        said = self.panels[panel.key]
        return f"{said['about']}\n\n**{self.phrases['measured']}** {said[source]}"

    def nothing(self, panel: Panel) -> str:
        """Return what stands where there is nothing to show."""
        return self.panels[panel.key].get("none", self.phrases["none"])


def words_of(language: str) -> Words:
    """Return the catalogue of `language`."""
    text = (files("dashboards") / "words" / f"{language}.toml").read_text(encoding="utf-8")
    return Words(language=language, **tomllib.loads(text))
