"""What a provider may change of a report's face, and what is refused."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from PIL import Image
from pypdf import PdfReader

from fairclock.documents.logo import LARGEST_BYTES, read_logo
from fairclock.errors import DocumentError
from sla.reports import write_reports
from sla.reports.appearance import Appearance, appearance_of
from sla.reports.html import report_html
from tests.reports import factories

if TYPE_CHECKING:
    from pathlib import Path

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 1"><rect width="4" height="1" fill="#123456"/>{}</svg>'


def picture(kind: str, size: tuple[int, int] = (40, 10)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, "#123456").save(buffer, kind)
    return buffer.getvalue()


def written(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def pdf_of(folder: Path, appearance: Appearance) -> bytes:
    (path,) = write_reports(
        factories.report(), formats=["pdf"], languages=["en"], directory=folder / "out", appearance=appearance
    )
    return path.read_bytes()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The PDF without a logo."""
    return pdf_of(tmp_path_factory.mktemp("plain"), Appearance())


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        pytest.param("logo.png", picture("PNG"), "image/png", id="PNG"),
        pytest.param("logo.jpg", picture("JPEG"), "image/jpeg", id="JPEG"),
        pytest.param("logo", picture("PNG"), "image/png", id="whatever the file is called"),
        pytest.param("logo.svg", SVG.format(""), "image/svg+xml", id="a plain drawing"),
    ],
)
def test_a_logo_is_on_the_page_and_in_the_pdf(
    tmp_path: Path, name: str, content: bytes | str, kind: str, plain: bytes
) -> None:
    appearance = appearance_of(templates=None, logo=written(tmp_path, name, content))
    html = report_html(factories.report(), "en", appearance)
    assert f'<img class="logo" src="data:{kind};base64,' in html
    assert 'alt="Example Cloud"' in html
    assert "img-src data:" in html
    shown = pdf_of(tmp_path, appearance)
    assert len(shown) > len(plain)
    assert shown == pdf_of(tmp_path, appearance)
    assert PdfReader(io.BytesIO(shown)).pages[0].extract_text().startswith(("Contract", "Service", "acme"))


def test_without_a_logo_the_page_may_show_no_picture() -> None:
    html = report_html(factories.report(), "en")
    assert "img-src" not in html
    assert "<img" not in html


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"not a picture", "not a picture that can be read", id="text"),
        pytest.param(b"", "not a picture that can be read", id="empty"),
        pytest.param(b"%PDF-1.7", "not a picture that can be read", id="a PDF"),
        pytest.param(picture("GIF"), "not a picture that can be read", id="another kind"),
        pytest.param(picture("PNG", (900, 900))[:800], "not a picture that can be read", id="half a picture"),
        pytest.param(picture("PNG", (4001, 1)), r"too large \(4001 x 1 pixels\)", id="too many pixels"),
        pytest.param(b"\0" * (LARGEST_BYTES + 1), r"too large \(more than 1 MiB\)", id="too many bytes"),
        pytest.param("<svg><rect/></svg>", "not a picture", id="no name space"),
        pytest.param("<html xmlns='http://www.w3.org/1999/xhtml'/>", "not a picture", id="a page"),
        pytest.param("<svg", "not a drawing that can be read", id="broken markup"),
        pytest.param('<!DOCTYPE svg [<!ENTITY a "b">]><svg/>', "declares entities", id="entities"),
        pytest.param(SVG.format("<script>alert(1)</script>"), r"does more than draw \(<script>\)", id="a script"),
        pytest.param(SVG.format('<image href="http://192.0.2.1/x.png"/>'), "does more than draw", id="another picture"),
        pytest.param(SVG.format('<use href="file:///etc/passwd#x"/>'), "does more than draw", id="a file"),
        pytest.param(SVG.format('<rect fill="url(http://192.0.2.1/#a)"/>'), "does more than draw", id="a paint from elsewhere"),
        pytest.param(SVG.format('<rect onload="x()"/>'), "does more than draw", id="a handler"),
        pytest.param(SVG.format('<style>@import "x"</style>'), "does more than draw", id="a style sheet"),
    ],
)  # fmt: skip
def test_what_is_no_logo_is_refused(tmp_path: Path, content: bytes | str, message: str) -> None:
    path = written(tmp_path, "logo", content)
    with pytest.raises(DocumentError, match=message) as refusal:
        read_logo(path)
    assert str(refusal.value).startswith(f"{path}: the logo")


def test_a_logo_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        DocumentError, match=r"cannot be read \(No such file or directory\); correct reports.logo"
    ):
        read_logo(tmp_path / "none.png")


def test_a_template_takes_the_place_of_the_one_of_its_name_and_its_hash_is_printed(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    written(folder, "clock.html.j2", "<section><h2>Our words for {{ front.customer }}</h2></section>\n")
    appearance = appearance_of(templates=folder, logo=None)
    html = report_html(factories.report(), "en", appearance)
    assert "<h2>Our words for Acme Finance</h2>" in html
    assert "<h2>With and without queueing</h2>" in html
    assert str(appearance.templates_sha256) in html
    written(folder, "clock.html.j2", "<section><h2>Other words</h2></section>\n")
    again = appearance_of(templates=folder, logo=None)
    assert again.templates_sha256 != appearance.templates_sha256
    assert "<h2>Other words</h2>" in report_html(factories.report(), "en", again)


def test_names_are_text_in_own_templates_too(tmp_path: Path) -> None:
    written(tmp_path, "clock.html.j2", "<section><h2>{{ front.customer }}</h2></section>\n")
    html = report_html(factories.hostile(), "en", appearance_of(templates=tmp_path, logo=None))
    assert "<h2>&lt;img src=x onerror=alert(1)&gt;</h2>" in html


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        pytest.param("\n\n{% if %}\n", "clock.html.j2:3", "the template cannot be read", id="not a template"),
        pytest.param("one\n{{ nothing_like_it }}\n", "clock.html.j2:2", "'nothing_like_it' is undefined", id="a value that is not there"),
        pytest.param("\n\n\n{{ 1 // 0 }}\n", "clock.html.j2:4", "ZeroDivisionError", id="a fault of its own"),
        pytest.param("\n{{ ''.__class__.__mro__ }}\n", "clock.html.j2:2", "SecurityError", id="what the sandbox forbids"),
        pytest.param("{% include 'elsewhere.html.j2' %}\n", "clock.html.j2:1", "elsewhere.html.j2", id="a file that is not there"),
    ],
)  # fmt: skip
def test_a_broken_template_is_named_with_its_line(
    tmp_path: Path, text: str, place: str, message: str
) -> None:
    written(tmp_path, "clock.html.j2", text)
    with pytest.raises(DocumentError, match=message) as refusal:
        report_html(factories.report(), "en", appearance_of(templates=tmp_path, logo=None))
    assert refusal.value.where == str(tmp_path / place)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        pytest.param(["clok.html.j2"], r"no place \(clok.html.j2\); there are appendix.html.j2, ", id="a name that is none"),
        pytest.param([], "the folder holds no template", id="nothing in it"),
        pytest.param(None, "cannot be read .No such file or directory.", id="no folder"),
    ],
)  # fmt: skip
def test_a_folder_that_changes_nothing_is_refused(
    tmp_path: Path, names: list[str] | None, message: str
) -> None:
    folder = tmp_path / "own"
    if names is not None:
        folder.mkdir()
        for name in names:
            written(folder, name, "x")
    with pytest.raises(DocumentError, match=message):
        appearance_of(templates=folder, logo=None)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('<img src="file:///etc/passwd">', id="a file"),
        pytest.param('<img src="http://192.0.2.1/x.png">', id="an address"),
        pytest.param('<img src="data:image/png;base64,AAAA">', id="another picture than the logo"),
        pytest.param("<style>@import url(http://192.0.2.1/x.css);</style>", id="a style sheet"),
    ],
)
def test_an_own_template_can_show_nothing_but_the_logo(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    written(folder, "clock.html.j2", text)
    logo = written(tmp_path, "logo.png", picture("PNG"))
    with pytest.raises(DocumentError, match="asks for something outside itself"):
        pdf_of(tmp_path, appearance_of(templates=folder, logo=logo))
