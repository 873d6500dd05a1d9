"""Own what contracts promise as the store keeps it, for dashboards: they read the store and no contract file."""

from __future__ import annotations

import hashlib
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING

from fairclock.store.query import Query
from fairclock.store.stamping import insert_stamped

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from fairclock.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractTerms:
    """One version of a contract, while it is in force; the lists have an entry an objective, or an outcome's rule.

    at_most_us: 0 where no time is promised. share_of / share_in: which part of the requests that count may be over; 0 / 1
    where no share of single requests decides. outcome_statuses, outcome_error_codes: 0 and "" where a rule asks for none.
    """

    contract: str
    version: str
    title_en: str
    title_zh: str
    tenants: tuple[str, ...]
    models: tuple[str, ...]
    routes: tuple[str, ...]
    regions: tuple[str, ...]
    time_zone: str
    clock_start: str
    unknown_is_bad: bool
    in_force_from: datetime
    in_force_to: datetime
    outcome_statuses: tuple[int, ...]
    outcome_error_codes: tuple[str, ...]
    outcome_names: tuple[str, ...]
    objectives: tuple[str, ...]
    kinds: tuple[str, ...]
    clocks: tuple[str, ...]
    at_most_us: tuple[int, ...]
    share_of: tuple[int, ...]
    share_in: tuple[int, ...]


_COLUMNS = tuple(field.name for field in fields(ContractTerms))


def keep_terms(store: Store, terms: Iterable[ContractTerms]) -> int:
    """Write the versions of each contract of which some version says something new; return how many rows that was.

    All versions of a contract are given: one that is not given does not hold any more.
    """
    by_contract: dict[str, list[tuple[ContractTerms, str]]] = {}
    for each in terms:
        by_contract.setdefault(each.contract, []).append((each, _digest(each)))
    if not by_contract:
        return 0
    known = {
        contract: sorted(digests)
        for contract, digests in store.rows(
            Query(
                sql="SELECT contract, groupArray(digest) FROM contract_terms WHERE (contract, stored_at) IN"
                " (SELECT contract, max(stored_at) FROM contract_terms WHERE contract IN {contracts:Array(String)}"
                " GROUP BY contract) GROUP BY contract",
                parameters={"contracts": list(by_contract)},
            )
        )
    }
    rows = [
        [*(list(value) if isinstance(value, tuple) else value for value in astuple(each)), digest]
        for contract, versions in by_contract.items()
        if known.get(contract) != sorted(digest for _, digest in versions)
        for each, digest in versions
    ]
    if rows:
        insert_stamped(store, "contract_terms", (*_COLUMNS, "digest"), rows)
    return len(rows)


def _digest(terms: ContractTerms) -> str:
    return hashlib.sha256(repr(astuple(terms)).encode()).hexdigest()
