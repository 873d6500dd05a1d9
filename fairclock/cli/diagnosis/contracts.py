"""Own the check of the contracts that are evaluated: whether their files can be read as contracts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.cli.diagnosis.finding import error, ok
from fairclock.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.cli.diagnosis.finding import Finding
    from sla.configuration import SlaSection

_REMEDY = (
    "correct it (fairclock contract lint says how); fairclock up does not start with it, and one that runs goes on"
    " with what the file said before"
)


def contract_findings(section: SlaSection) -> Iterator[Finding]:
    """Read every contract that the configuration names."""
    if not section.contracts:
        return
    from sla.contracts.versions import load_versions  # noqa: PLC0415 - only where there are contracts

    for path in section.contracts:
        try:
            versions = load_versions(path)
        except ContractError as problem:
            yield error("sla.contracts", " ".join(str(problem).split()), _REMEDY)
        except OSError as problem:
            yield error("sla.contracts", f"{path} cannot be read ({problem.strerror})", _REMEDY)
        else:
            count = "1 version" if len(versions) == 1 else f"{len(versions)} versions"
            yield ok("sla.contracts", f"{path}: {versions[-1].id}, {count}")
