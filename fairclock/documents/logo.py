"""Own the one picture that a document may carry: read whole, checked, and embedded as an address that holds it.

What is no picture, too large, or a drawing that does more than draw, is refused before anything is set with it.
"""

from __future__ import annotations

import base64
import io
import warnings
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from fairclock.errors import DocumentError

if TYPE_CHECKING:
    from pathlib import Path

LARGEST_BYTES = 1 << 20
LARGEST_PIXELS = 4000
_KINDS = {"PNG": "image/png", "JPEG": "image/jpeg"}
_ENDS = {"PNG": b"IEND\xaeB`\x82", "JPEG": b"\xff\xd9"}
"""The PDF library makes do with halves of pictures; a logo is whole."""

_SVG = "{http://www.w3.org/2000/svg}"
_NEVER_DRAWN = frozenset({"script", "foreignObject", "image", "style", "a", "animate", "set"})
_REMEDY = "name a PNG, JPEG or plain SVG file of at most 1 MiB and 4000 x 4000 pixels"


def read_logo(path: Path) -> str:
    """Return the picture in a file as a ``data:`` address; DocumentError says why a file cannot be one."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise DocumentError(
            str(path), "the logo cannot be read", found=error.strerror, remedy="correct reports.logo"
        ) from error
    if len(content) > LARGEST_BYTES:
        raise _refused(path, "the logo is too large", "more than 1 MiB")
    kind = _drawing(path, content) if content.lstrip()[:1] == b"<" else _picture(path, content)
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _picture(path: Path, content: bytes) -> str:
    from PIL import Image  # noqa: PLC0415 - comes with the PDF library

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with Image.open(io.BytesIO(content), formats=list(_KINDS)) as picture:
                kind, size = _KINDS[str(picture.format)], picture.size
                if max(size) > LARGEST_PIXELS:
                    raise _refused(path, "the logo is too large", f"{size[0]} x {size[1]} pixels")
                picture.load()
                if not content.rstrip(b"\0\r\n").endswith(_ENDS[str(picture.format)]):
                    raise _refused(path, "the logo is not a picture that can be read", "it breaks off")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Warning) as error:
        raise _refused(path, "the logo is not a picture that can be read", str(error)[:120]) from error
    return kind


def _drawing(path: Path, content: bytes) -> str:
    """Check that an SVG draws and does nothing else: no scripts, no pictures, no styles, nothing from elsewhere."""
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise _refused(path, "the logo is a drawing that declares entities", "<!DOCTYPE")
    try:
        root = ET.fromstring(content)  # noqa: S314 - entities, the only danger here, are refused above
    except ET.ParseError as error:
        raise _refused(path, "the logo is not a drawing that can be read", str(error)) from error
    if root.tag != f"{_SVG}svg":
        raise _refused(path, "the logo is not a picture that can be read", root.tag[:80])
    for element in root.iter():
        name = str(element.tag).removeprefix(_SVG)
        if name in _NEVER_DRAWN or name.startswith(("animate", "{")):
            raise _refused(path, "the logo does more than draw", f"<{name[:40]}>")
        for key, value in element.attrib.items():
            elsewhere = key.rpartition("}")[2] == "href" and not value.startswith("#")
            if elsewhere or key.startswith("on") or "url(" in value.replace("url(#", ""):
                raise _refused(path, "the logo does more than draw", f'{key[:40]}="{value[:40]}"')
    return "image/svg+xml"


def _refused(path: Path, problem: str, found: str) -> DocumentError:
    return DocumentError(str(path), problem, found=found, remedy=_REMEDY)
