"""Own what lint says: how bad, which rule, where, why, and which clause would be better; in two languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from fairclock.clauses.problems import path_text

if TYPE_CHECKING:
    from fairclock.clauses.problems import Path

Severity = Literal["error", "warning"]
SEVERITIES = {"error": {"en": "error", "zh": "错误"}, "warning": {"en": "warning", "zh": "警告"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """A sentence in the two languages."""

    en: str
    zh: str

    def in_language(self, language: str) -> str:
        """Return the sentence in `language`."""
        return self.zh if language == "zh" else self.en


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that lint has to say about a contract."""

    severity: Severity
    rule: str
    path: Path
    reason: Wording
    suggestion: Wording
    line: int | None = None
    absence: bool = False
    """Whether it is about something that is not there, and so uncertain where a key could not be understood."""

    def plain(self, language: str = "en") -> str:
        """Return ``path (line 3): reason; suggestion``."""
        reason, suggestion = self.reason.in_language(language), self.suggestion.in_language(language)
        if language == "zh":
            place = f"（第{self.line}行）" if self.line else ""
            return f"{path_text(self.path)}{place}：{reason}；{suggestion}"
        place = f" (line {self.line})" if self.line else ""
        return f"{path_text(self.path)}{place}: {reason}; {suggestion}"

    def sentence(self, language: str = "en") -> str:
        """Return ``error: path (line 3): reason; suggestion [rule]``."""
        severity = SEVERITIES[self.severity][language]
        colon = "：" if language == "zh" else ": "
        return f"{severity}{colon}{self.plain(language)} [{self.rule}]"

    def as_json(self) -> dict[str, Any]:
        """Return the finding as JSON knows it."""
        return {
            "severity": self.severity,
            "rule": self.rule,
            "path": path_text(self.path),
            "line": self.line,
            "reason": {"en": self.reason.en, "zh": self.reason.zh},
            "suggestion": {"en": self.suggestion.en, "zh": self.suggestion.zh},
        }


def write(clause: str) -> Wording:
    """Return the suggestion to write a clause."""
    return Wording(en=f"write {clause}", zh=f"可写作 {clause}")


def add(clause: str) -> Wording:
    """Return the suggestion to add a clause."""
    return Wording(en=f"add {clause}", zh=f"请补充 {clause}")
