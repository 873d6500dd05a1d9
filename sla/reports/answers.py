"""Own how it is shown what answers to fixed questions are worth, by inference mode."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairclock.documents.text import printable
from sla.reports.reading import count

if TYPE_CHECKING:
    from fairclock.documents.languages import Language
    from sla.reports.reading import Report

_PLACES = 1


def answers_rows(report: Report, language: Language) -> list[list[str]]:
    """Return a row a mode; none where no fixed question was asked, or the report is from before."""
    found = (report.get("measurement") or {}).get("answers") or []
    return [
        [
            printable(str(each["inference_mode"])) or language.text("measurement.answers_unsaid"),
            language.integer(count(each["answers"]) or 0),
            *(
                _percent(each[name], language)
                for name in ("repetition_ratio", "numbers_copied_ratio", "invalid_ratio")
            ),
        ]
        for each in found
    ]


def _percent(ratio: Any, language: Language) -> str:
    return "—" if ratio is None else language.percent(Fraction(str(ratio)), least=_PLACES)
