"""Own the demonstration's folder: what is in it, and that nobody else's files are replaced."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

MARKER = ".fairclock-demo"
_MARK = "Written by `fairclock demo`, which may replace the folders raw, contracts, store, reports, billing,\ninvoices, issued and bundles here.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The folders of one demonstration."""

    root: Path

    @property
    def raw(self) -> Path:
        """Return where the logs are."""
        return self.root / "raw"

    @property
    def contracts(self) -> Path:
        """Return where the contracts are."""
        return self.root / "contracts"

    @property
    def store(self) -> Path:
        """Return where the embedded store is."""
        return self.root / "store"

    @property
    def reports(self) -> Path:
        """Return where the reports are."""
        return self.root / "reports"

    @property
    def billing(self) -> Path:
        """Return where the price book and the configuration for the ledger are."""
        return self.root / "billing"

    @property
    def invoices(self) -> Path:
        """Return where the statements of charges are."""
        return self.root / "invoices"

    @property
    def issued(self) -> Path:
        """Return where the issued report's bytes are, and the signature beside them."""
        return self.root / "issued"

    @property
    def bundles(self) -> Path:
        """Return where the bundle is with which others count a report again."""
        return self.root / "bundles"


def prepare_workspace(out: Path) -> Workspace:
    """Return an empty workspace at `out`; an earlier demonstration there is replaced, anything else refused.

    Files that a demonstration does not write are left alone. Raises UsageError.
    """
    where = f"--out {out}"
    try:
        if out.exists() and not out.is_dir():
            raise UsageError(where, "is a file", remedy="name a folder")
        if out.is_dir() and any(out.iterdir()) and not (out / MARKER).is_file():
            raise UsageError(
                where,
                "the folder is in use and was not written by a demonstration",
                found=f"no {MARKER} in it",
                remedy="name a new or empty folder",
            )
        workspace = Workspace(root=out.resolve())
        out.mkdir(parents=True, exist_ok=True)
        (out / MARKER).write_text(_MARK, encoding="utf-8")
        made = (
            workspace.raw,
            workspace.contracts,
            workspace.reports,
            workspace.billing,
            workspace.invoices,
            workspace.issued,
            workspace.bundles,
        )
        for folder in (workspace.store, *made):
            if folder.exists():
                shutil.rmtree(folder)
        for folder in made:
            folder.mkdir()
    except OSError as error:
        raise UsageError(
            where, "cannot be written", found=error.strerror or str(error), remedy="name another folder"
        ) from error
    return workspace
