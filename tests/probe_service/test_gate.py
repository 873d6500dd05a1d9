"""What the service answers itself, from its first moment to its last."""

import json

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from inference_probe.service.gate import Gate
from inference_probe.service.service_metrics import ServiceCollector
from inference_probe.service.stages import Progress, Stage
from inference_probe.service.timings import Timings
from tests.probe_service.scene import application, ask


def progress(stage=Stage.READY):
    """A process that began at 1,000 s, read vLLM for 20 s, and took 30, 5 and 2 s for its stages."""
    made = Progress(process_started=1_000.0, now=1_020.0)
    for each, now in ((Stage.PROMPTS, 1_050.0), (Stage.LOAD, 1_055.0), (Stage.READY, 1_057.0)):
        if made.stage != stage:
            made.enter(each, now=now)
    if made.stage != stage:
        made.enter(stage, now=2_000.0)
    return made


def gate(stage=Stage.READY, *, has_died=False, settings=True, **changes):
    made = Gate(progress(stage), changes.pop("timings", Timings()), **changes)
    made.inner = application(b'{"from":"vLLM"}') if stage is not Stage.WEIGHTS else None
    made.settings = {"schema": "s", "engine": {"max_num_seqs": 2}} if settings else None
    made.has_died = lambda: has_died
    return made


def asked(app, path, **settings):
    status, _, pieces = ask(app, path, **{"method": "GET", **settings})
    return status, json.loads(b"".join(pieces) or b"null")


@pytest.mark.parametrize(
    ("stage", "has_died", "health", "readiness", "model"),
    [
        pytest.param(Stage.WEIGHTS, False, 200, 503, 503, id="while weights load it is well and not ready"),
        pytest.param(Stage.PROMPTS, False, 200, 503, 503, id="typical prompts are no readiness"),
        pytest.param(Stage.LOAD, False, 200, 503, 503, id="the first load is none either"),
        pytest.param(Stage.READY, False, 200, 200, 200, id="after the warm-up it is ready"),
        pytest.param(Stage.READY, True, 503, 503, 200, id="a dead engine is neither well nor ready"),
        pytest.param(Stage.STOPPING, False, 200, 503, 503, id="told to end it takes no more"),
        pytest.param(Stage.FAILED, False, 503, 503, 503, id="a start that failed is not well"),
    ],
)
def test_health_and_readiness(stage, has_died, health, readiness, model):
    app = gate(stage, has_died=has_died)
    assert asked(app, "/healthz")[0] == health
    status, said = asked(app, "/readyz")
    assert (status, said["ready"], said["stage"]) == (readiness, readiness == 200, stage)
    assert asked(app, "/v1/completions", method="POST")[0] == model


def test_before_it_is_ready_the_model_is_refused_in_words_that_clients_read():
    status, headers, pieces = ask(gate(Stage.LOAD), "/v1/completions")
    error = json.loads(b"".join(pieces))["error"]
    assert (status, error["type"], error["code"], headers["retry-after"]) == (
        503,
        "ServiceUnavailableError",
        503,
        "1",
    )


def test_a_cold_start_is_published_stage_by_stage():
    said = asked(gate(), "/readyz")[1]["cold_start"]["seconds"]
    assert said == {"process": 20.0, "weights": 30.0, "prompts": 5.0, "load": 2.0, "total": 57.0}


def test_what_was_published_of_a_start_stays_when_the_service_ends():
    assert progress(Stage.STOPPING).seconds == progress().seconds


def test_metrics_say_the_start_too_and_nothing_of_what_is_not_known():
    registry, timings = CollectorRegistry(), Timings(1)
    timings.keep("a", b"{}")
    timings.keep("b", b"{}")
    started = progress()
    registry.register(ServiceCollector(started, timings))
    text = generate_latest(registry).decode()
    assert 'fairclock_probe_service_cold_start_seconds{stage="weights"} 30.0' in text
    assert "fairclock_probe_service_ready 1.0" in text
    assert "fairclock_probe_service_timings_kept 1.0" in text
    assert "fairclock_probe_service_timings_forgotten_total 1.0" in text
    assert "first_request" not in text
    started.warm_up["first_request_seconds"] = 0.5
    assert "fairclock_probe_service_first_request_seconds 0.5" in generate_latest(registry).decode()


def test_metrics_are_there_before_the_engine_is_and_vllms_own_after_it():
    status, _, pieces = ask(gate(Stage.WEIGHTS), "/metrics", method="GET")
    assert (status, b"python_info" in b"".join(pieces)) == (200, True)
    assert asked(gate(Stage.PROMPTS), "/metrics") == (200, {"from": "vLLM"})


def test_settings_are_those_of_the_engine_with_the_start():
    status, said = asked(gate(), "/settings")
    assert (status, said["engine"], said["cold_start"]["seconds"]["total"]) == (
        200,
        {"max_num_seqs": 2},
        57.0,
    )
    assert asked(gate(Stage.WEIGHTS, settings=False), "/settings")[0] == 503


def test_timings_are_told_by_id():
    timings = Timings()
    timings.keep("a/b", b'{"request_id":"a/b"}')
    app = gate(timings=timings)
    assert asked(app, "/timings/a/b") == (200, {"request_id": "a/b"})
    status, said = asked(app, "/timings/other")
    assert (status, said["error"]["type"], said["error"]["param"]) == (404, "NotFoundError", "request_id")


@pytest.mark.parametrize("path", ["/timings/a", "/settings"])
@pytest.mark.parametrize(
    ("given", "status"),
    [
        pytest.param({}, 401, id="no key"),
        pytest.param({"Authorization": "Bearer other"}, 401, id="another key"),
        pytest.param({"Authorization": "Bearer two"}, 200, id="one of the keys"),
    ],
)
def test_where_there_are_keys_timings_and_settings_want_one(path, given, status):
    timings = Timings()
    timings.keep("a", b"{}")
    app = gate(timings=timings, api_keys=("one", "two"))
    assert asked(app, path, **given)[0] == status
    assert asked(app, "/readyz")[0] == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/settings", "/timings/a"])
def test_what_is_only_read_takes_nothing(path):
    status, headers, _ = ask(gate(), path, method="POST")
    assert (status, headers["allow"]) == (405, "GET, HEAD")
