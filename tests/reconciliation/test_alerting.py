"""A clock that drifts away, told through the alert engine: it fires, and freezes where no more probes come; nobody calls it well."""

from __future__ import annotations

import pytest

from fairclock.store import LineBatch, open_store
from fairclock.store.probes import keep_probes
from inference_probe.reconciliation.reconciling import reconcile
from sla.alerting.measurement import CLOCKS, MISSES
from tests.alert_engine.scene import MINUTE, Scene
from tests.reconciliation.factories import FOUR_MINUTES_US, HOUR, START, a_probe, engine_line, gateway_line

PROBES = 4


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('alerting')}") as store:
        yield store


def test_what_drifts_or_falls_silent_fires_and_freezes(store):
    scene = Scene(store, sources={"enabled": False}, gap={"enabled": False})
    numbers = range(PROBES)
    keep_probes(store, [a_probe(number) for number in numbers])
    lines = [gateway_line(number) for number in numbers]
    store.ingest(LineBatch(kind="gateway", source="access.log", lines=lines))
    # the span's clock is wrong, and the plugin says nothing after the first
    spans = [engine_line(number, ahead_us=FOUR_MINUTES_US) for number in numbers]
    store.ingest(LineBatch(kind="engine", source="otlp", lines=spans))
    store.ingest(LineBatch(kind="engine", source="otlp", lines=[engine_line(0, reporter="plugin")]))
    scene.log(0, minutes=2)
    scene.look(1)
    assert not any(rule.startswith("measurement-") for rule, _ in scene.standing())
    reconcile(store, HOUR, as_of=store.watermark(), now=START + MINUTE)
    scene.look(2)
    fired = [event for event in scene.events() if event.rule in {CLOCKS, MISSES}]
    assert {(event.rule, event.state.value) for event in fired} == {(CLOCKS, "firing"), (MISSES, "firing")}
    told = "\n".join(event.summary_en for event in fired)
    assert (
        "the clocks of span (engine) and gateway (access.log) are apart by at least: 4.0 min, longer than 1 s"
        in told
    )
    assert "plugin does not see probes that others saw: 3 of 4" in told
    scene.look(180)
    assert {scene.standing()[rule, None] for rule in (CLOCKS, MISSES)} == {"frozen"}
