"""Own the way from HTML to PDF: hermetic fonts, no fetching, the same bytes every time.

Importing this module needs WeasyPrint; whoever only writes JSON, CSV or HTML does not import it.
"""

from __future__ import annotations

import base64
import gc
import logging
import os
import re
import tempfile
import threading
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import pydyf
import weasyprint
from weasyprint.logger import LOGGER
from weasyprint.text.fonts import FontConfiguration
from weasyprint.urls import FatalURLFetchingError, URLFetcher, URLFetcherResponse

from fairclock.documents.fonts import Face, faces_for, others_beside
from fairclock.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_TAG = re.compile(r"<[^>]*>")
_ENVIRONMENT_LOCK = threading.Lock()
_COLLECTED_AFTER = (150_000, 3, 3)
"""Rare enough to cost little, often enough that documents already made do not add up."""

_DEFLATE_LEVEL = 6

_VARIANT = "pdf/a-2a"
"""For archives (fonts and colours within, nothing from outside), with tags for screen readers."""

_SCALE_BITMAPS = """
<match target="font">
  <test name="outline" compare="eq"><bool>false</bool></test>
  <edit name="factor" mode="assign">
    <divide><name target="pattern">pixelsize</name><name target="font">pixelsize</name></divide>
  </edit>
  <edit name="matrix" mode="assign">
    <times><name>matrix</name><matrix>
      <name>factor</name><double>0</double><double>0</double><name>factor</name>
    </matrix></times>
  </edit>
  <edit name="size" mode="assign"><divide><name>size</name><name>factor</name></divide></edit>
</match>"""
"""Emoji are pictures of one size; this fits them to the line."""


def render_pdf(html: str, *, identifier: str, picture: str | None = None) -> bytes:
    """Return `html` as a tagged PDF/A with its fonts embedded.

    Title, author, language and dates come from the document's own head; `identifier` becomes the file's
    id, so nothing depends on when or where this runs. Raises DocumentError where a character has no glyph
    or where the document asks for anything outside itself; `picture` is the one ``data:`` address that it may show.
    """
    faces = faces_for(_text_of(html))
    fetcher = _RefuseEverything(picture)
    pdf = b""
    with _errors_of_this_thread() as errors, _cycles_sought_seldom(), suppress(FatalURLFetchingError):
        # The URL fetcher is also what @font-face and <img> would go through: all are refused.
        document = weasyprint.HTML(string=html, url_fetcher=fetcher).render(
            font_config=_font_configuration(faces), pdf_variant=_VARIANT, pdf_tags=True
        )
        pdf = document.write_pdf(
            finisher=_deflate, pdf_identifier=identifier.encode(), pdf_variant=_VARIANT, pdf_tags=True
        )
    if fetcher.asked_for:  # asked first: where a drawing is set, the library itself drops our exception
        raise DocumentError(
            "pdf",
            "the document asks for something outside itself",
            found=fetcher.asked_for[0],
            remedy="documents are self-contained: put it into the template as text or inline SVG",
        )
    if errors:
        raise DocumentError(
            "pdf",
            "a part of the document could not be set",
            found=errors[0],
            remedy="this is a fault in the template: please report it",
        )
    return pdf


def _deflate(document: weasyprint.Document, pdf: pydyf.PDF) -> None:
    """Compress what the library would compress at its slowest level: that takes a tenth of the time and saves a hundredth."""
    del document
    for each in pdf.objects:
        if isinstance(each, pydyf.Stream) and each.compress:
            written = pydyf.Stream(each.stream).data
            content = written.partition(b"stream\n")[2].removesuffix(b"\nendstream")
            each.stream, each.compress = [zlib.compress(content, _DEFLATE_LEVEL)], False
            each.extra["Filter"] = "/FlateDecode"


class _RefuseEverything(URLFetcher):  # type: ignore[misc]
    """Answer no to every address, whatever its scheme, but the one picture; remember what else was asked for."""

    def __init__(self, picture: str | None) -> None:
        super().__init__()
        self._picture = picture
        self.asked_for: list[str] = []

    def fetch(self, url: str, headers: dict[str, str] | None = None) -> URLFetcherResponse:
        """Stop the rendering: a document that fetches is not the document that was reviewed."""
        del headers
        if url == self._picture:
            kind, _, content = url.removeprefix("data:").partition(";base64,")
            return URLFetcherResponse(url, base64.b64decode(content), {"Content-Type": kind})
        self.asked_for.append(url)
        raise FatalURLFetchingError(url)


@dataclass(slots=True)
class _Growing:
    """How many documents grow in this process now, and how often it looked for cycles before the first of them."""

    guard: threading.Lock = field(default_factory=threading.Lock)
    count: int = 0
    before: tuple[int, int, int] = (0, 0, 0)


_GROWING = _Growing()


@contextmanager
def _cycles_sought_seldom() -> Iterator[None]:
    """Look less often for what forms cycles while a document grows: it takes a seventh of the time and finds nothing.

    Where several grow at once, in several threads, the last one to end lets the process look as often as before.
    """
    with _GROWING.guard:
        if not _GROWING.count:
            _GROWING.before = gc.get_threshold()
            gc.set_threshold(*_COLLECTED_AFTER)
        _GROWING.count += 1
    try:
        yield
    finally:
        with _GROWING.guard:
            _GROWING.count -= 1
            if not _GROWING.count:
                gc.set_threshold(*_GROWING.before)


@contextmanager
def _errors_of_this_thread() -> Iterator[list[str]]:
    """Collect what the library reports as errors and passes over: a missing chart is no report."""
    errors: list[str] = []
    thread = threading.get_ident()

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.thread == thread:
                errors.append(record.getMessage())

    collector = Collector(level=logging.ERROR)
    LOGGER.addHandler(collector)
    try:
        yield errors
    finally:
        LOGGER.removeHandler(collector)


def _text_of(html: str) -> str:
    """Return every character that could be drawn, once: all but what is within tags; the style sheet's content too."""
    return "".join(sorted(set(unescape(_TAG.sub("", html)))))


def _font_configuration(faces: Sequence[Face]) -> FontConfiguration:
    """Return a configuration that knows these faces and nothing of the machine's own settings."""
    with _fontconfig_file(faces) as path, _ENVIRONMENT_LOCK:
        before = os.environ.get("FONTCONFIG_FILE")
        os.environ["FONTCONFIG_FILE"] = str(path)
        try:
            return FontConfiguration()
        finally:
            if before is None:
                del os.environ["FONTCONFIG_FILE"]
            else:
                os.environ["FONTCONFIG_FILE"] = before


def _refused(families: Iterable[str]) -> str:
    patterns = "".join(
        f'<pattern><patelt name="family"><string>{escape(family)}</string></patelt></pattern>'
        for family in families
    )
    return f"<rejectfont>{patterns}</rejectfont>" if patterns else ""


@contextmanager
def _fontconfig_file(faces: Sequence[Face]) -> Iterator[Path]:
    paths = list(dict.fromkeys(face.path for face in faces))
    folders = list(dict.fromkeys(path.parent for path in paths))
    accepted = "".join(f"<glob>{escape(str(path))}</glob>" for path in paths)
    lines = [
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd"><fontconfig>',
        *(f"<dir>{escape(str(folder))}</dir>" for folder in folders),
        # the machine's caches of these folders: without them a 20 MB collection is scanned every time
        '<cachedir>/var/cache/fontconfig</cachedir><cachedir prefix="xdg">fontconfig</cachedir>',
        "<selectfont><rejectfont><glob>*</glob></rejectfont>",
        f"<acceptfont>{accepted}</acceptfont>{_refused(others_beside(faces))}</selectfont>",
        f"{_SCALE_BITMAPS}</fontconfig>",
    ]
    with tempfile.TemporaryDirectory(prefix="fairclock-fonts-") as folder:
        path = Path(folder) / "fonts.conf"
        path.write_text("\n".join(lines), encoding="utf-8")
        yield path
