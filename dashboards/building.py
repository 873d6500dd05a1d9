"""Own the files of the dashboards: which there are, how they are written, how drift is found."""

from __future__ import annotations

from pathlib import Path

from dashboards.cost import COST_BOARD
from dashboards.engines import ENGINES_BOARD
from dashboards.grafana.dashboards import dashboard_of, uid_of
from dashboards.grafana.json_text import json_text
from dashboards.overview import OVERVIEW
from dashboards.specification import SOURCES
from dashboards.tenant import TENANT_BOARD
from dashboards.wording import LANGUAGES, words_of

BOARDS = (OVERVIEW, TENANT_BOARD, ENGINES_BOARD, COST_BOARD)
CONSOLE = "http://localhost:8780"
FOLDER = Path(__file__).parent / "generated"
"""Where the files lie that are shipped."""


def built(*, console: str = CONSOLE) -> dict[str, str]:
    """Return every file's text by its name below the folder; `console` is where links to the console lead."""
    return {
        f"{language}/{uid_of(board, source, words)}.json": json_text(
            dashboard_of(board, BOARDS, source, words, console=console.rstrip("/"))
        )
        for language in LANGUAGES
        for words in (words_of(language),)
        for source in SOURCES
        for board in BOARDS
    }


def write(folder: Path, files: dict[str, str]) -> None:
    """Write `files` below `folder`, and remove JSON there that is none of them."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in _strays(folder, files):
        path.unlink()


def drift(folder: Path, files: dict[str, str]) -> list[str]:
    """Return the names of files below `folder` that are missing, say something else, or should not be there."""
    changed = [
        name
        for name, text in files.items()
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text
    ]
    return sorted([*changed, *(str(path.relative_to(folder)) for path in _strays(folder, files))])


def _strays(folder: Path, files: dict[str, str]) -> list[Path]:
    return [
        path
        for language in LANGUAGES
        for path in sorted((folder / language).glob("*.json"))
        if f"{language}/{path.name}" not in files
    ]
