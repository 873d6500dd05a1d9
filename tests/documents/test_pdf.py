"""A PDF is tagged, embeds its fonts, fetches nothing, and is the same bytes every time."""

from __future__ import annotations

import gc
import hashlib
import io
import os
import subprocess
import sys

import pytest
from pypdf import PdfReader

from fairclock.documents import pdf
from fairclock.documents.pdf import render_pdf
from fairclock.errors import DocumentError

PAGE = """<!DOCTYPE html><html lang="{lang}"><head><meta charset="utf-8"><title>A title 标题</title>
<meta name="author" content="Example Cloud"><meta name="dcterms.created" content="2026-11-03T04:12:05Z">
<style>body {{ font-family: 'Noto Sans', 'Noto Sans CJK SC' }} {css}</style></head>
<body><h1>Heading</h1><p>{body}</p></body></html>"""


def page(body: str = "text", *, css: str = "", lang: str = "en") -> str:
    return PAGE.format(body=body, css=css, lang=lang)


def read(html: str) -> PdfReader:
    return PdfReader(io.BytesIO(render_pdf(html, identifier="test")))


def test_title_author_language_date_and_bookmarks_come_from_the_document() -> None:
    reader = read(page(lang="zh-Hans"))
    assert reader.metadata.title == "A title 标题"
    assert reader.metadata.author == "Example Cloud"
    assert reader.metadata["/CreationDate"] == "D:20261103041205Z"
    assert reader.root_object["/Lang"] == "zh-Hans"
    assert [entry.title for entry in reader.outline] == ["Heading"]


def test_the_structure_is_tagged() -> None:
    reader = read(page())
    assert reader.root_object["/MarkInfo"]["/Marked"]
    document = reader.root_object["/StructTreeRoot"]["/K"][0].get_object()
    assert [each.get_object()["/S"] for each in document["/K"]] == ["/H1", "/P"]


def test_every_font_is_embedded_and_from_the_list() -> None:
    reader = read(page("Latin 中文 <b>粗体</b> ≤"))
    fonts = {
        str(font["/BaseFont"]): font["/DescendantFonts"][0]["/FontDescriptor"]
        for each in reader.pages
        for font in each["/Resources"]["/Font"].values()
    }
    assert {name.partition("+")[2] for name in fonts} == {
        "Noto-Sans",
        "Noto-Sans-Bold",
        "Noto-Sans-CJK-SC",
        "Noto-Sans-CJK-SC-Bold",
    }
    for descriptor in fonts.values():
        assert {"/FontFile2", "/FontFile3"} & set(descriptor)


@pytest.mark.parametrize(
    "html",
    [
        pytest.param(page('<img src="file:///etc/passwd">'), id="an image from a file"),
        pytest.param(page('<img src="http://127.0.0.1:1/x.png">'), id="an image from the network"),
        pytest.param(page('<img src="data:image/png;base64,aaaa">'), id="an image from a data address"),
        pytest.param(page("<style>@import url('file:///etc/passwd');</style>"), id="an imported style sheet"),
        pytest.param(page('<link rel="stylesheet" href="file:///etc/passwd">'), id="a linked style sheet"),
        pytest.param(
            page(css="@font-face { font-family: x; src: url('file:///etc/passwd') }"), id="a font from a file"
        ),
        pytest.param(page(css="p { background: url('http://127.0.0.1:1/x') }"), id="a background"),
        pytest.param(
            page('<svg width="9" height="9" xmlns="http://www.w3.org/2000/svg">'
                 '<image href="file:///etc/passwd" width="9" height="9"/></svg>'),
            id="an image inside a drawing",
        ),
    ],
)  # fmt: skip
def test_a_document_that_fetches_is_refused(html: str) -> None:
    with pytest.raises(DocumentError, match="asks for something outside itself"):
        render_pdf(html, identifier="test")


def test_what_the_library_would_leave_out_is_no_document() -> None:
    with pytest.raises(DocumentError, match=r"a part of the document could not be set \(Relative URI"):
        render_pdf(page('<img src="chart.png">'), identifier="test")


def test_a_character_that_only_the_style_sheet_prints_is_checked_too() -> None:
    with pytest.raises(DocumentError, match=r"U\+10FFFD|U\+FDD0"):
        render_pdf(page(css="p::before { content: '\ufdd0' }"), identifier="test")


def test_arabic_beside_latin_keeps_both_readable() -> None:
    reader = read(page("(<bdi>شركة</bdi>) Acme"))
    names = {
        str(font["/BaseFont"]).partition("+")[2] for font in reader.pages[0]["/Resources"]["/Font"].values()
    }
    assert "Noto-Sans-Arabic" in names
    assert "Acme" in reader.pages[0].extract_text()


_RENDER = (
    "import hashlib, sys; from fairclock.documents.pdf import render_pdf; "
    "print(hashlib.sha256(render_pdf(sys.stdin.read(), identifier='test')).hexdigest())"
)


def test_two_processes_with_other_surroundings_give_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    html = page("Latin 中文 <b>粗体</b> <bdi>شركة</bdi> ≤ ⌈x⌉")
    expected = hashlib.sha256(render_pdf(html, identifier="test")).hexdigest()
    surroundings = [
        {"PYTHONHASHSEED": "1", "TZ": "Asia/Shanghai", "LANG": "C"},
        {"PYTHONHASHSEED": "2", "TZ": "America/New_York", "LANG": "ja_JP.UTF-8", "LC_ALL": "C.UTF-8"},
    ]
    found = [
        subprocess.run(
            [sys.executable, "-c", _RENDER],
            input=html,
            env={**os.environ, "PYTHONPATH": os.getcwd(), "PYTHONUTF8": "1", **each},  # noqa: PTH109
            cwd=tmp_path_factory.mktemp("elsewhere"),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for each in surroundings
    ]
    assert found == [expected, expected]


def test_documents_that_grow_at_once_leave_the_collector_as_they_found_it() -> None:
    before = gc.get_threshold()
    first, second = pdf._cycles_sought_seldom(), pdf._cycles_sought_seldom()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold() == pdf._COLLECTED_AFTER, "the second one grows still"
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before != pdf._COLLECTED_AFTER


def test_the_machines_own_font_settings_are_left_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FONTCONFIG_FILE", "/nowhere/fonts.conf")
    render_pdf(page(), identifier="test")
    assert os.environ["FONTCONFIG_FILE"] == "/nowhere/fonts.conf"


def test_the_pdf_says_that_it_is_for_archives_tagged_and_in_which_language() -> None:
    html = (
        '<html lang="en"><head><title>Title</title><meta name="author" content="Author"></head><body><h1>Head</h1>'
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" width="10" height="10"><title>A drawing</title>'
        '<rect width="5" height="5"/></svg><table><tr><th>a</th><td>1</td></tr></table></body></html>'
    )
    root = PdfReader(io.BytesIO(render_pdf(html, identifier="x"))).root_object
    described = root["/Metadata"].get_object().get_data().decode()
    assert 'pdfaid:part="2"' in described
    assert 'pdfaid:conformance="A"' in described
    assert "Title" in described
    assert "Author" in described
    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en"
    assert root["/OutputIntents"]
    found = list(_structure(root["/StructTreeRoot"]))
    assert {"/H1", "/Figure", "/Table", "/TH", "/TD"} <= {kind for kind, _ in found}
    assert ("/Figure", "A drawing") in found


def _structure(element):
    element = element.get_object()
    if not isinstance(element, dict):
        return
    yield element.get("/S"), element.get("/Alt")
    children = element.get("/K", [])
    children = children.get_object() if hasattr(children, "get_object") else children
    for child in children if isinstance(children, list) else [children]:
        yield from _structure(child)
