"""Own the checks of a server's disks: by the same marks as the alerts ``disk-low`` and ``disk-full``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.cli.diagnosis.finding import error, ok, warning

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from fairclock.cli.diagnosis.finding import Finding
    from fairclock.store.disks import Disk

_CHECK = "server's disk"
_GIB = 1 << 30
_REMEDY = "free space on it, or add a disk: docs/runbooks/store-disk.md"


def disk_findings(found: Sequence[Disk] | None, *, low: Fraction, full: Fraction) -> Iterator[Finding]:
    """Look at the disks of a server; `found` None where its account may not look."""
    if found is None:
        yield warning(
            _CHECK, "the account may not look at it", "GRANT SELECT ON system.disks, as fairclock migrate --accounts has it"
        )  # fmt: skip
    for disk in found or ():
        detail = f"{disk.name}, {disk.free_bytes // _GIB:,} GiB ({float(disk.free_ratio):.0%}) free"
        if disk.free_ratio < full:
            yield error(_CHECK, detail, _REMEDY)
        elif disk.free_ratio < low:
            yield warning(_CHECK, detail, _REMEDY)
        else:
            yield ok(_CHECK, detail)
