"""Own an issued report as it is printed: its bytes as they were issued, its number, its signatures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from fairclock.documents.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from fairclock.documents.languages import Language
    from sla.reports.reading import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedSignature:
    """A signature; `role` is provider or customer, None for a key that the contract does not name; `subject`: a certificate's."""

    role: str | None
    public_key: str
    signed_at: datetime
    subject: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedIssue:
    """What was issued: the bytes of its report.json, and who signed them."""

    number: str
    issued_at: datetime
    content: bytes
    signatures: tuple[PrintedSignature, ...] = ()


class IssuedReport(dict[str, Any]):
    """A report's dictionary that knows its issue: its bytes are those that were issued, whatever this version would write."""

    def __init__(self, report: Mapping[str, Any], issue: PrintedIssue) -> None:
        super().__init__(report)
        self.issue = issue


def issue_lines(report: Report, language: Language) -> list[str]:
    """Return what the first page says of the issue, a text a line; a draft has neither number nor signatures."""
    text = language.text
    if not isinstance(report, IssuedReport):
        return [text("issue.draft")]
    issue, zone = report.issue, ZoneInfo(str(report["period"]["time_zone"]))
    issued_at = language.instant(issue.issued_at.astimezone(zone))
    lines = [text("issue.issued", number=printable(issue.number), at=issued_at)]
    if not issue.signatures:
        lines.append(text("issue.unsigned"))
    for each in issue.signatures:
        words: dict[str, str] = {
            "at": language.instant(each.signed_at.astimezone(zone)),
            "key": printable(each.public_key),
        }
        if each.role is None:
            words["subject"] = printable(each.subject or text("nothing"))
        lines.append(text(f"issue.signed_{each.role or 'other'}", **words))
    return lines
