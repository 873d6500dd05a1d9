"""Own what a provider may change of the report's face: templates of its own, and a logo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.documents.logo import read_logo
from fairclock.documents.templates import check_templates, environment, sha256_of

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Appearance:
    """A folder of templates with the hash of what it holds, and a picture as an address; None: as shipped."""

    templates: Path | None = None
    templates_sha256: str | None = None
    logo: str | None = None


AS_SHIPPED = Appearance()


def appearance_of(*, templates: Path | None, logo: Path | None) -> Appearance:
    """Read and check both, so that what is wrong with them is said before anything is evaluated."""
    folder = None if templates is None else templates.absolute()
    if folder is not None:
        check_templates(environment("sla.reports", folder=folder), folder)
    return Appearance(
        templates=folder,
        templates_sha256=None if folder is None else sha256_of(folder),
        logo=None if logo is None else read_logo(logo),
    )
