"""Own the words of a mail that brings seals of days."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sla.issuing.day_seals import file_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.store.issued_reports import DaySealRow

_SUBJECT = {
    "en": "Seals of {contract}: {days}",
    "zh": "{contract} 每日封存：{days}",
}
_TEXT = {
    "en": """The provider's measurements of contract {contract} were sealed for the days below. Keep the files as they are:
whoever changes a measured request of such a day later, changes its hash.

{lines}

A file of revision 2 or higher replaces none that you have: it says that hours were sealed anew, and names the one before.
To check: sha256sum FILE gives the hash above, and "previous" in a file is the hash of the file that came before it.
With access to the provider's store: fairclock reports verify FILE.
""",
    "zh": """合同 {contract} 下列日期的测量记录已封存。请原样保存附件：事后改动当日任何一条请求，哈希即不同。

{lines}

修订号为 2 或以上的文件不替换您已有的文件：它说明有小时被重新封存，并载明前一份的哈希。
核对方法：sha256sum 文件 所得即上列哈希；文件中的 "previous" 是前一份文件的哈希。
可访问服务方存储时：fairclock reports verify 文件。
""",
}
_LINE = {
    "en": "{file}\n  day {day}, revision {revision}, number {sequence}\n  SHA-256 {sha256}",
    "zh": "{file}\n  日期 {day}，修订 {revision}，序号 {sequence}\n  SHA-256 {sha256}",
}


def mail_text(rows: Sequence[DaySealRow], language: str) -> tuple[str, str]:
    """Return subject and text of the mail with some seals of one contract."""
    days = [row.day for row in rows]
    said = days[0] if len(days) == 1 else f"{min(days)} – {max(days)}"
    lines = "\n".join(
        _LINE[language].format(
            file=file_name(row.contract, row.day, row.revision),
            day=row.day,
            revision=row.revision,
            sequence=row.sequence,
            sha256=row.sha256,
        )
        for row in rows
    )
    contract = rows[0].contract
    return (
        _SUBJECT[language].format(contract=contract, days=said),
        _TEXT[language].format(contract=contract, lines=lines),
    )
