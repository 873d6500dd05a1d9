"""Own the nginx snippet that ships with Fairclock: where its files lie, and how they get beside an nginx.conf."""

from __future__ import annotations

import shutil
from pathlib import Path

SNIPPET_FILES = (
    "fairclock.conf",
    "location.conf",
    "connection-time.conf",
    "connection-time-unknown.conf",
    "tenants.map",
    "trusted-proxies.geo",
)
"""Every file that nginx reads; they include one another as ``fairclock/NAME``."""

OPERATOR_FILES = frozenset({"tenants.map", "trusted-proxies.geo"})
"""Those that an operator edits; a copy never overwrites them."""


def snippet_directory() -> Path:
    """Return the folder of the installed snippet, which has a README beside the files."""
    return Path(__file__).resolve().parent


def copy_snippet(configuration_directory: Path) -> Path:
    """Copy the snippet to ``fairclock/`` beside an nginx.conf and return that folder.

    Files that an operator edits are left as they are where they exist.
    """
    folder = configuration_directory / "fairclock"
    folder.mkdir(parents=True, exist_ok=True)
    for name in SNIPPET_FILES:
        target = folder / name
        if name in OPERATOR_FILES:
            if target.exists():
                continue
            target.touch(mode=0o600)  # keys will be written into it
        shutil.copyfile(snippet_directory() / name, target)
    return folder
