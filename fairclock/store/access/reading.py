"""Own what a store shows, so that accounts can be made for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.store.access.accounts import Shown
from fairclock.store.query import Query

if TYPE_CHECKING:
    from fairclock.store import Store


def shown_by(store: Store) -> Shown:
    """Return the views of `store` with their columns, and the tenants of each contract that was ever counted."""
    columns = store.rows(
        Query(
            sql="SELECT table, groupArray(name) FROM (SELECT table, name FROM system.columns"
            " WHERE database = currentDatabase() AND startsWith(table, 'dashboard_') ORDER BY table, position)"
            " GROUP BY table ORDER BY table"
        )
    )
    tenants = store.rows(
        Query(
            sql="SELECT contract, arraySort(groupUniqArrayArray(tenants)) FROM contract_terms GROUP BY contract ORDER BY contract"
        )
    )
    return Shown(
        views={str(view): tuple(names) for view, names in columns},
        contracts={str(contract): tuple(found) for contract, found in tenants},
    )
