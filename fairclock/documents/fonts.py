"""Own which font files a document may be set in, where they lie, and which characters they can draw.

The list is closed: the faces below and, for names in other scripts, the Noto face of that script. Nothing
else that happens to be installed is used, so that the same fonts give the same bytes everywhere.
"""

from __future__ import annotations

import hashlib
import os
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from fairclock.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

LATIN = "Noto Sans"
CHINESE = "Noto Sans CJK SC"
MONOSPACED = "Noto Sans Mono CJK SC"
_CJK_SCRIPTS = frozenset({"Hani", "Hira", "Kana", "Hang", "Bopo"})
_FIRST_EMOJI = 0x1F000
_MOST_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class FontFile:
    """A file that the allow-list names, the family wanted from it, and the Debian package that brings it."""

    name: str
    family: str
    package: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """One face found on this machine; `index` is its place in a collection file."""

    family: str
    path: Path
    index: int
    package: str


_BASE = (
    FontFile(name="NotoSans-Regular.ttf", family=LATIN, package="fonts-noto-core"),
    FontFile(name="NotoSans-Bold.ttf", family=LATIN, package="fonts-noto-core"),
    FontFile(name="NotoSansMath-Regular.ttf", family="Noto Sans Math", package="fonts-noto-core"),
    FontFile(name="NotoSansCJK-Regular.ttc", family=CHINESE, package="fonts-noto-cjk"),
    FontFile(name="NotoSansCJK-Bold.ttc", family=CHINESE, package="fonts-noto-cjk"),
)
_SYMBOLS = (
    FontFile(name="NotoSansSymbols-Regular.ttf", family="Noto Sans Symbols", package="fonts-noto-core"),
    FontFile(name="NotoSansSymbols2-Regular.ttf", family="Noto Sans Symbols2", package="fonts-noto-core"),
    FontFile(name="NotoColorEmoji.ttf", family="Noto Color Emoji", package="fonts-noto-color-emoji"),
)


def faces_for(text: str) -> list[Face]:
    """Return the faces that together draw every character of `text`, base faces first.

    Raises DocumentError, naming characters and packages, rather than let boxes be printed.
    """
    missing_files = sorted({file.package for file in _BASE if file.name not in _installed()})
    if missing_files:
        raise DocumentError(
            "fonts",
            "the fonts that documents are set in are not installed",
            found=", ".join(file.name for file in _BASE if file.name not in _installed()),
            remedy=_install(missing_files),
        )
    faces = [face for file in _BASE for face in _find(file)]
    wanted = {character for character in text if not _draws_nothing(character)}
    wanted -= _drawn_by(tuple(faces))
    for file in _others(wanted):
        found = _find(file)
        if found and wanted & _drawn_by(found):
            faces += found
            wanted -= _drawn_by(found)
    if wanted:
        raise _undrawable(wanted)
    return faces


def describe(text: str = "") -> list[dict[str, str]]:
    """Return family, version and SHA-256 of the faces that `text` is set in, for a report's evidence.

    Needs no PDF library. What is not installed is not listed: it could not have been used.
    """
    try:
        import fontTools  # noqa: F401, PLC0415
    except ModuleNotFoundError:
        return []  # the base install sets no documents
    faces = [face for file in _BASE for face in _find(file)]
    drawn = _drawn_by(tuple(faces))
    faces += [
        face
        for file in _others({character for character in text if not _draws_nothing(character)} - drawn)
        for face in _find(file)
    ]
    return [
        {
            "family": face.family,
            "file": face.path.name,
            "version": _version(face),
            "sha256": _sha256(face.path),
        }
        for face in faces
    ]


def others_beside(faces: Iterable[Face]) -> list[str]:
    """Return the families that lie in the same files as `faces` and are none of theirs: Japanese forms, Korean ones."""
    chosen = list(faces)
    beside = {family for face in chosen if face.path.suffix == ".ttc" for family in _families_in(face.path)}
    return sorted(beside - {face.family for face in chosen})


def directories() -> list[Path]:
    """Return where fonts are looked for: the user's own first, then the machine's."""
    data_home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return [Path(data_home) / "fonts", Path("/usr/local/share/fonts"), Path("/usr/share/fonts")]


@lru_cache(maxsize=1)
def _installed() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for directory in directories():
        for path in sorted(directory.rglob("Noto*.tt[cf]")):
            found.setdefault(path.name, path)
    return found


@lru_cache(maxsize=64)
def _find(file: FontFile) -> tuple[Face, ...]:
    path = _installed().get(file.name)
    if path is None:
        return ()
    if path.suffix == ".ttf":
        return (Face(family=file.family, path=path, index=0, package=file.package),)
    return tuple(
        Face(family=family, path=path, index=index, package=file.package)
        for index, family in enumerate(_families_in(path))
        if family in {file.family, MONOSPACED}
    )


@lru_cache(maxsize=64)
def _families_in(collection: Path) -> tuple[str, ...]:
    from fontTools.ttLib import TTCollection  # noqa: PLC0415

    with TTCollection(collection, lazy=True) as opened:
        return tuple(_family(font) for font in opened.fonts)


def _family(font: object) -> str:
    return str(font["name"].getDebugName(1))  # type: ignore[index]


@lru_cache(maxsize=16)
def _drawn_by(faces: tuple[Face, ...]) -> frozenset[str]:
    return frozenset().union(*(_characters(face) for face in faces))


@lru_cache(maxsize=64)
def _characters(face: Face) -> frozenset[str]:
    from fontTools.ttLib import TTFont  # noqa: PLC0415

    with TTFont(face.path, fontNumber=face.index, lazy=True) as font:
        return frozenset(map(chr, font.getBestCmap()))


@lru_cache(maxsize=64)
def _version(face: Face) -> str:
    from fontTools.ttLib import TTFont  # noqa: PLC0415

    with TTFont(face.path, fontNumber=face.index, lazy=True) as font:
        return str(font["name"].getDebugName(5)).removeprefix("Version ").partition(";")[0]


@lru_cache(maxsize=64)
def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _draws_nothing(character: str) -> bool:
    """Tell whether a character needs no glyph: spaces, joiners, variation selectors."""
    return (
        unicodedata.category(character) in {"Cc", "Cf", "Zs", "Zl", "Zp"} or "\ufe00" <= character <= "\ufe0f"
    )


def _others(characters: Iterable[str]) -> list[FontFile]:
    """Return the further files that may be used for `characters`: their scripts' faces, then symbols."""
    scripts = sorted({_script(character) for character in characters} - {"Common", "Inherited", "Unknown"})
    files = [
        FontFile(
            name=f"NotoSans{script}-Regular.ttf", family=f"Noto Sans {script}", package="fonts-noto-core"
        )
        for script in scripts
    ]
    return [*files, *_SYMBOLS]


def _script(character: str) -> str:
    from fontTools import unicodedata as scripts  # noqa: PLC0415

    return str(scripts.script_name(scripts.script(character))).replace("_", "").replace(" ", "")


def _undrawable(characters: set[str]) -> DocumentError:
    ordered = sorted(characters)
    shown = ", ".join(f"{character} U+{ord(character):04X}" for character in ordered[:_MOST_SHOWN])
    more = f" and {len(ordered) - _MOST_SHOWN} more" if len(ordered) > _MOST_SHOWN else ""
    return DocumentError(
        "fonts",
        "no installed font draws these characters of the document",
        found=shown + more,
        remedy=f"{_install(sorted({_package(each) for each in ordered}))}; or write the name without them",
    )


def _package(character: str) -> str:
    from fontTools import unicodedata as scripts  # noqa: PLC0415

    if scripts.script(character) in _CJK_SCRIPTS:
        return "fonts-noto-cjk"
    symbol = unicodedata.category(character) in {"So", "Sk"} or ord(character) >= _FIRST_EMOJI
    return "fonts-noto-color-emoji" if symbol else "fonts-noto-core"


def _install(packages: list[str]) -> str:
    return f"install {' and '.join(packages)} (apt-get install {' '.join(packages)})"
