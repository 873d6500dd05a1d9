"""Own how the states of alerts are read back: of everything that is watched, its last life and the last change in it.

An alert's id is the text of what is watched, a slash, and the number of the life. Of equal (alert id, sequence) the
row stored first holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Sequence


class Rows(Protocol):
    """Whatever answers queries; `fairclock.store.Store` does."""

    def rows(self, query: Query) -> Sequence[Sequence[Any]]:
        """Return the rows of `query`."""


class LastChange(NamedTuple):
    """The last change in the last life of what is watched; `event` is empty where that is a resolution."""

    key: str
    life: int
    sequence: int
    state: str
    event: str


_RESOLVED = "resolved"
_LAST = Query(
    sql="SELECT key, life_sequence_state.1, life_sequence_state.2, life_sequence_state.3 FROM ("
    "SELECT arrayStringConcat(arrayPopBack(splitByChar('/', alert_id)), '/') AS key,"
    " max(tuple(toUInt64OrZero(arrayElement(splitByChar('/', alert_id), -1)), sequence, state)) AS life_sequence_state"
    " FROM (SELECT alert_id, sequence, state FROM alerts ORDER BY alert_id, sequence, stored_at LIMIT 1 BY alert_id, sequence)"
    " GROUP BY key) WHERE life_sequence_state.1 > 0 ORDER BY key"
)


def last_changes(store: Rows) -> list[LastChange]:
    """Return where everything stands that was ever watched and told of."""
    found = [
        LastChange(key=key, life=int(life), sequence=sequence, state=state, event="")
        for key, life, sequence, state in store.rows(_LAST)
    ]
    wanted = {f"{each.key}/{each.life}": each for each in found if each.state != _RESOLVED}
    if not wanted:
        return found
    events = store.rows(
        Query(
            sql="SELECT alert_id, sequence, event FROM alerts WHERE alert_id IN {ids:Array(String)}"
            " ORDER BY alert_id, sequence, stored_at LIMIT 1 BY alert_id, sequence",
            parameters={"ids": list(wanted)},
        )
    )
    texts = {(alert_id, sequence): event for alert_id, sequence, event in events}
    return [
        each._replace(event=texts[f"{each.key}/{each.life}", each.sequence])
        if each.state != _RESOLVED
        else each
        for each in found
    ]
