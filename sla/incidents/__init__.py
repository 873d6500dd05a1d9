"""Own incidents: bad minutes in a row, what they hit, and what else was true then, as evidence with numbers.

`grouping` says which minutes are bad and which of them are one incident; `evidence` has a pure function a kind.
`reading` fetches their numbers, as of an instant; `noticing` keeps what was found, for whoever alerts.
"""

from sla.incidents.identity import incident_id

__all__ = ["incident_id"]
