"""Own what is judged: one version of a contract, while it is in force, with its promises and exclusions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sla.evaluation.excluded import NOTHING, Excluded
from sla.evaluation.promises import Promise, promises_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairclock.model import Interval
    from sla.contracts import Contract
    from sla.evaluation.parts import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A version of a contract; `in_force` None: during the whole of its term."""

    contract: Contract
    promises: Mapping[str, Promise]
    excluded: Excluded = NOTHING
    in_force: Interval | None = None

    def by(self, parts: Sequence[Part] | None) -> Subject:
        """Return the subject, judged part by part."""
        return replace(self, promises=promises_of(self.contract, parts))


def subject_of(
    contract: Contract, *, excluded: Excluded = NOTHING, in_force: Interval | None = None
) -> Subject:
    """Return the subject that a contract is before its parts are known: the traffic as a whole."""
    return Subject(contract=contract, promises=promises_of(contract), excluded=excluded, in_force=in_force)
