"""Contracts for tests: a good one, changed by path."""

import copy

import yaml

from sla.contracts import Contract, Examination, examine, parse_contract


class _Absent:
    """Takes a key out of the file; prints the same in every process, since tests are named by it."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()

GOOD = {
    "apiVersion": "fairclock/v1",
    "kind": "Contract",
    "id": "acme-2026",
    "title": {"en": "Agreement", "zh": "协议"},
    "provider": {"name": "Example Cloud"},
    "customer": {"name": "Acme Finance", "tenants": ["acme"]},
    "term": {"from": "2026-01-01", "to": "2026-12-31", "time_zone": "Asia/Shanghai"},
    "clock": {"start": "received"},
    "quota": {"requests_per_minute": "600", "rejected_below": "bad"},
    "calendar": {"peak": [{"days": "mon-fri", "from": "09:30", "to": "11:30"}]},
    "objectives": [
        {
            "name": "p99",
            "latency": {"clock": "end_to_end", "percentile": "99", "at_most": "2s"},
            "during": "peak",
        },
        {"name": "availability", "availability": {"formula": "request_ratio", "target": "99.9%"}},
    ],
    "insufficient": {"below": "100", "verdict": "void"},
    "unmeasured": {
        "time": "bad",
        "coverage_floor": "99.5%",
        "below_floor": "violated",
        "unknown_clock": "bad",
    },
}


def contract_text(changes=None) -> str:
    """Write the good contract with values changed by path (``objectives.0.latency.at_most``)."""
    tree = copy.deepcopy(GOOD)
    for path, given in (changes or {}).items():
        value = given if given is ABSENT else copy.deepcopy(given)
        *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        place = tree
        for step in steps:
            place = place.setdefault(step, {}) if isinstance(place, dict) else place[step]
        if value is ABSENT:
            del place[last]
        elif isinstance(place, list) and last == len(place):
            place.append(value)
        else:
            place[last] = value
    return yaml.safe_dump(tree, allow_unicode=True, sort_keys=False)


def good_contract(changes=None) -> Contract:
    """Load the good contract with changes; it has to stay good."""
    return parse_contract(contract_text(changes))


def examined(changes=None) -> Examination:
    """Examine the good contract with changes."""
    return examine(contract_text(changes))


def latency(name="p99-inference", *, clock="inference", percentile="99", at_most="300ms", **more):
    """Return a latency objective as the file holds it."""
    return {"name": name, "latency": {"clock": clock, "percentile": percentile, "at_most": at_most}, **more}
