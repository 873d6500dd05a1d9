"""A process that rates and closes, and stops to be killed in the middle: python -m tests.ledger.killed_ledger DSN PLACE.

It adds `BATCH` entries at a time. At PLACE, "after 2" (entries are stored for the second time, their chains' ends not yet noted) or "before 2"
(they are about to be), it says ``there`` and waits for ever.
"""

from __future__ import annotations

import signal
import sys
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from billing.bookkeeping import books
from billing.bookkeeping.closing import Closing, close_month
from billing.bookkeeping.rating import rate
from billing.ledger import PeriodState
from fairclock.store import open_store
from tests.ledger.factories import HOUR, START, UTC_MONTHS, ByTokens, a_usage

HOURS = 6
BATCH = 4
PRICES = ByTokens(minimum=Fraction(3))
USAGES = [
    a_usage(tenant=tenant, start=START + number * HOUR, end=START + (number + 1) * HOUR, requests=3 + number)
    for number in range(HOURS)
    for tenant in ("acme", "globex")
]
MONTH = UTC_MONTHS.interval("2026-10")


def stop_at(place):
    """Let this process stop and say so when it gets to `place`."""
    side, _, ordinal = place.partition(" ")
    store_them, times = books.keep_entries, 0

    def here():
        print("there", flush=True)  # noqa: T201
        while True:
            signal.pause()

    def keep(store, rows):
        nonlocal times
        times += 1
        if side == "before" and times == int(ordinal):
            here()
        stamp = store_them(store, rows)
        if side == "after" and times == int(ordinal):
            here()
        return stamp

    books.keep_entries = keep


def rate_and_close(store):
    """Bring the ledger to say `USAGES`, and make their month final."""
    rate(store, lambda _: USAGES, MONTH, as_of=store.watermark(), prices=PRICES, months=UTC_MONTHS)
    closing = Closing(month="2026-10", state=PeriodState.FINAL, grace=timedelta(days=7))
    now = datetime(2026, 11, 30, tzinfo=UTC)
    close_month(store, closing, prices=PRICES, months=UTC_MONTHS, now=now, currency="USD")


def main(dsn, place):
    books._BATCH = BATCH
    stop_at(place)
    with open_store(dsn) as store:
        rate_and_close(store)


if __name__ == "__main__":
    main(*sys.argv[1:])
