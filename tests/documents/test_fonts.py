"""Fonts come from a closed list; what they cannot draw is refused by name."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from fairclock.documents import fonts
from fairclock.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """Let only some of the installed font files be found."""
    everything = dict(fonts._installed())

    def keep(*names: str) -> None:
        monkeypatch.setattr(
            fonts, "_installed", lambda: {name: path for name, path in everything.items() if name in names}
        )
        fonts._find.cache_clear()

    yield keep
    fonts._find.cache_clear()


def test_latin_and_chinese_text_is_set_in_the_base_faces() -> None:
    families = [face.family for face in fonts.faces_for("Acme 华夏 ≤ ⌈ é")]
    assert families == [
        "Noto Sans",
        "Noto Sans",
        "Noto Sans Math",
        "Noto Sans CJK SC",
        "Noto Sans Mono CJK SC",
        "Noto Sans CJK SC",
        "Noto Sans Mono CJK SC",
    ]


def test_the_simplified_chinese_face_is_taken_from_the_collection() -> None:
    from fontTools.ttLib import TTFont

    face = next(face for face in fonts.faces_for("") if face.family == "Noto Sans CJK SC")
    with TTFont(face.path, fontNumber=face.index, lazy=True) as font:
        assert font["name"].getDebugName(1) == "Noto Sans CJK SC"


@pytest.mark.parametrize(
    ("text", "family"),
    [
        pytest.param("شركة", "Noto Sans Arabic", id="an Arabic name"),
        pytest.param("חברה", "Noto Sans Hebrew", id="a Hebrew name"),
        pytest.param("कंपनी", "Noto Sans Devanagari", id="an Indian name"),
        pytest.param("บริษัท", "Noto Sans Thai", id="a Thai name"),
        pytest.param("🖨", "Noto Sans Symbols2", id="a symbol"),
    ],
)
def test_names_in_other_scripts_bring_the_face_of_their_script(text: str, family: str) -> None:
    assert family in [face.family for face in fonts.faces_for(text)]


@pytest.mark.parametrize(
    ("kept", "text", "message"),
    [
        pytest.param(
            [],
            "a",
            r"not installed \(NotoSans-Regular.ttf, .*NotoSansCJK-Bold.ttc\); "
            r"install fonts-noto-cjk and fonts-noto-core \(apt-get install fonts-noto-cjk fonts-noto-core\)",
            id="without the base fonts both packages are named",
        ),
        pytest.param(
            [file.name for file in fonts._BASE],
            "شركة",
            r"no installed font draws these characters of the document \(ة U\+0629, .*\); "
            r"install fonts-noto-core",
            id="an Arabic name without its face",
        ),
        pytest.param(
            [file.name for file in fonts._BASE],
            "🏦 bank 🏦",
            r"\(🏦 U\+1F3E6\); install fonts-noto-color-emoji .*; or write the name without them",
            id="an emoji without the emoji font, named once",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(only: object, kept: list[str], text: str, message: str) -> None:
    only(*kept)
    with pytest.raises(DocumentError, match=message):
        fonts.faces_for(text)


def test_spaces_joiners_and_variation_selectors_need_no_glyph(only: object) -> None:
    only(*[file.name for file in fonts._BASE])
    assert fonts.faces_for("a\u00a0b\u200d\ufe0f\n\t") == fonts.faces_for("")


def test_the_description_gives_version_and_hash_of_the_files() -> None:
    described = fonts.describe()
    regular = next(each for each in described if each["file"] == "NotoSans-Regular.ttf")
    content = next(path for name, path in fonts._installed().items() if name == regular["file"]).read_bytes()
    assert regular["family"] == "Noto Sans"
    assert regular["sha256"] == hashlib.sha256(content).hexdigest()
    assert regular["version"].partition(".")[0].isdigit()


def test_the_description_of_a_text_names_the_further_faces_it_needs() -> None:
    families = {each["family"] for each in fonts.describe("شركة")}
    assert families == {each["family"] for each in fonts.describe()} | {"Noto Sans Arabic"}


def test_fonts_not_installed_are_not_described(only: object) -> None:
    only()
    assert fonts.describe() == []


def test_describing_fonts_needs_no_pdf_library() -> None:
    program = (
        "import sys; sys.modules['weasyprint'] = None\n"
        "from fairclock.documents.fonts import describe\n"
        "assert describe()"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_users_own_fonts_come_before_the_machines(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert fonts.directories()[0] == tmp_path / "fonts"
