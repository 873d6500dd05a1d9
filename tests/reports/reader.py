"""Read a report's HTML as a reader does: text, tables, what would be fetched or run."""

from __future__ import annotations

import re
from html.parser import HTMLParser


class Page(HTMLParser):
    """The visible text, the tables as rows of cells, and every tag with its attributes."""

    _UNSEEN = ("style", "title")

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: list[list[list[str]]] = []
        self._text: list[str] = []
        self._unseen = 0
        self._cell: list[str] | None = None
        self.feed(html)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self._text)).strip()

    def table(self, first_header: str) -> list[list[str]]:
        """Return the rows of the first table whose first cell is `first_header`."""
        return next(table for table in self.tables if table[0][0] == first_header)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._unseen += tag in self._UNSEEN
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.handle_data(" ")
            self._cell = []
        elif tag in ("br", "p", "li", "dd", "dt", "h1", "h2", "h3"):
            self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        self._unseen -= tag in self._UNSEEN
        if tag in ("td", "th") and self._cell is not None:
            self.tables[-1][-1].append(re.sub(r"\s+", " ", "".join(self._cell)).strip())
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._unseen:
            return
        self._text.append(data)
        if self._cell is not None:
            self._cell.append(data)
