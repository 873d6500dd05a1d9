"""Price books for tests: a good one, changed by path."""

import copy

import yaml

from billing.prices import PriceBook, parse_price_book


class _Absent:
    """Takes a key out of the file; prints the same in every process, since tests are named by it."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()

VERSION = {
    "name": "v1",
    "from": "2026-01-01",
    "base_fee": "0.5",
    "tokens": {"per": "1000", "uncached_prompt": "2", "cached_prompt": "1", "completion": "8"},
    "models": [{"name": "small", "weight": "1"}, {"name": "large", "weight": "2"}],
    "machines": [
        {"gpu": "H200", "price": "0.25", "cost": "0.1"},
        {"gpu": "H200", "mig": "1g", "price": "0.05"},
    ],
    "deployments": {"factors": {"shared": "1.0", "dedicated": "3.2", "edge": "2.1"}, "default": "shared"},
    "treatments": {"aborted": "tokens", "incomplete": "nothing", "refused": "nothing", "retried": "nothing"},
    "tax": {"rate": "6%"},
}

GOOD = {
    "apiVersion": "fairclock/v1",
    "kind": "PriceBook",
    "id": "prices",
    "time_zone": "Asia/Shanghai",
    "currency": {"code": "CNY", "digits": "2"},
    "rounding": "half_up",
    "versions": [VERSION],
}


def version(name, start, **changes):
    """Return another version as the file holds it."""
    return {**copy.deepcopy(VERSION), "name": name, "from": start, **changes}


def book_text(changes=None) -> str:
    """Write the good book with values changed by path (``versions.0.tokens.per``)."""
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


def good_book(changes=None) -> PriceBook:
    """Load the good book with changes; it has to stay good."""
    return parse_price_book(book_text(changes))
