"""What a question finds does not depend on what was asked before it: the engine's cache of conditions is nobody's."""

from __future__ import annotations

import http.client
import json
from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from fairclock.errors import StoreUnreachable
from fairclock.model import Interval
from fairclock.model.probes import ProbeOutcome
from fairclock.model.sightings import Reconciled
from fairclock.store import Query, open_store
from fairclock.store.front import FRONT_FILE
from fairclock.store.probe_sightings import keep_reconciled
from fairclock.store.probes import keep_probes
from sla.measurement.reading import measured_as_of
from tests.reconciliation.factories import SECOND, START, reconciled

DAYS = 8
IS_USED = "SELECT value FROM system.settings WHERE name = 'use_query_condition_cache'"
HAS_ROOM = "SELECT value FROM system.server_settings WHERE name = 'query_condition_cache_size'"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("conditions")


@pytest.fixture(scope="module")
def embedded(folder):
    with open_store(f"chdb://{folder}") as store:
        yield store


def test_probes_that_no_source_saw_are_counted_however_often_they_are_asked_for(embedded):
    """The joins of the first time find nothing, and must not be remembered as if the probes were not there."""
    asked = []
    for day in range(DAYS):
        begun = START + timedelta(days=day)
        probes = [
            replace(
                reconciled(number).probe,
                id=f"{day}-{number}",
                intended_at=begun + number * SECOND,
                outcome=ProbeOutcome.SERVER_ERROR,
            )
            for number in range(2)
        ]
        keep_probes(embedded, probes)
        unseen = [Reconciled(probe=probes[0], at=begun, sightings=())]
        keep_reconciled(embedded, unseen)
        keep_reconciled(embedded, unseen)
        window, as_of = Interval(start=begun, end=begun + timedelta(hours=1)), embedded.watermark()
        asked += [measured_as_of(embedded, window, as_of).sent for _ in range(2)]
    assert asked == [2] * 2 * DAYS


def test_it_is_off_in_our_sessions_and_has_no_room_for_others(embedded, folder):
    assert embedded.rows(Query(sql=IS_USED)) == [("0",)]
    note = json.loads((folder / FRONT_FILE).read_text())
    stranger = http.client.HTTPConnection("127.0.0.1", note["port"], timeout=60)
    stranger.request(
        "POST", f"/?{urlencode({'query': HAS_ROOM})}", headers={"Authorization": f"Bearer {note['token']}"}
    )
    assert stranger.getresponse().read() == b"0\n"


def test_it_is_off_in_our_sessions_on_a_server(monkeypatch):
    asked = {}

    def opened(**words):
        asked.update(words["settings"])
        raise ConnectionRefusedError

    monkeypatch.setattr("clickhouse_connect.get_client", opened)
    with pytest.raises(StoreUnreachable):
        open_store("clickhouse://fairclock_writer:secret@clickhouse.example/fairclock")
    assert asked["use_query_condition_cache"] == 0
