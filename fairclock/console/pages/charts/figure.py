"""Own what a chart is on its page: the drawing, its key, and the table of its figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Sequence

STRETCH = 1000
"""How wide the inner, stretched drawing is in its own units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One entry of a chart's key: the style of its line or fill, and its name."""

    style: str
    name: str
    is_line: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A drawing with its title, its key, and its figures as a table (`rows` begin with what `columns` begins with).

    follows: whether the drawing has a point a row, at even distances, so that a cursor can go along it.
    """

    title: str
    drawing: Markup
    key: Sequence[Key]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    follows: bool = False


def drawing(*, title: str, height: int, parts: Sequence[str]) -> Markup:
    """Return an SVG as wide as its column and `height` pixels high, named by its title."""
    return Markup(  # noqa: S704 (the title is escaped here, texts where they are made)
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="100%" height="{height}" '
        f'aria-label="{escape(title)}">' + "".join(parts) + "</svg>"
    )


def label(
    share: float, y: float, words: str, *, anchor: str = "start", style: str = "", nudge: float = 0
) -> str:
    """Return one line of text at a share of the width."""
    named = f' class="{style}"' if style else ""
    moved = f' dx="{nudge:g}"' if nudge else ""
    return f'<text x="{100 * share:.2f}%" y="{y:.1f}" text-anchor="{anchor}"{moved}{named}>{escape(words)}</text>'


def across(y: float, *, style: str) -> str:
    """Return a line from side to side."""
    return f'<line x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}" class="{style}"/>'


def upright(share: float, top: float, bottom: float, *, style: str) -> str:
    """Return a line from top to bottom at a share of the width."""
    return f'<line x1="{100 * share:.2f}%" x2="{100 * share:.2f}%" y1="{top:.1f}" y2="{bottom:.1f}" class="{style}"/>'


def box(start: float, width: float, y: float, height: float, *, style: str, hint: str = "") -> str:
    """Return a rectangle between shares of the width; `hint` is told when it is pointed at."""
    told = f"<title>{escape(hint)}</title>" if hint else ""
    return (
        f'<rect x="{100 * start:.3f}%" width="{100 * max(width, 0):.3f}%" y="{y:.1f}" height="{height:.1f}" '
        f'class="{style}">{told}</rect>'
    )
