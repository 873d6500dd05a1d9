"""``fairclock up`` delivers what others keep in its store, and after a kill what was kept meanwhile."""

import json
from datetime import UTC, datetime

from exporters.webhooks.store_outbox import StoreOutbox
from fairclock.demo.live.programs import free_port
from fairclock.store import open_store
from tests.faults.processes import Restarted, eventually
from tests.webhooks.factories import SECRET, good_event
from tests.webhooks.receiver import Receiver


def keep(dsn, *events):
    with open_store(dsn) as store:
        StoreOutbox(store).keep(events)


def test_up_tells_of_alerts_and_goes_on_where_it_was_killed(tmp_path):
    port, dsn = free_port(), f"chdb://{tmp_path}/store"
    with Receiver((200, {}, b"")) as receiver:
        place = {"name": "there", "format": "json", "url": receiver.url(), "secret_env": "S"}
        (tmp_path / "fairclock.yaml").write_text(
            json.dumps(
                {
                    "webhooks": {
                        "destinations": [place],
                        "allow_internal": ["127.0.0.1"],
                        "group_wait": "0s",
                        "hold_down": "0s",
                    }
                }
            )
        )
        up = Restarted(
            "fairclock", "up", "--listen", f"127.0.0.1:{port}", "--grpc", "off", "--http", "off", "--dsn", dsn,
            folder=tmp_path, port=port, S=SECRET,
        )  # fmt: skip
        try:
            up.start().wait_until_it_answers()
            fired = good_event(at=datetime.now(UTC))
            keep(dsn, fired)
            eventually(lambda: receiver.received, what=lambda: up.said)
            up.kill()
            over = good_event(2, "resolved", at=datetime.now(UTC))
            keep(dsn, over)
            up.start().wait_until_it_answers()

            def told():
                return [
                    each for each in receiver.received if over.event_id in each.headers["Fairclock-Event-Id"]
                ]

            eventually(told, what=lambda: up.said)

            def is_written():
                with open_store(dsn) as store:
                    return {row["delivery"] for row in StoreOutbox(store).newest()} == {"delivered"}

            eventually(is_written, what=lambda: up.said, every=0.5)
            up.stop()
        finally:
            up.close()
    assert "telling of alerts: there" in up.said
    assert SECRET not in up.said
    ids = [each.headers["Fairclock-Event-Id"] for each in receiver.received]
    assert ids == sorted(ids, key=[fired.event_id, over.event_id].index)
