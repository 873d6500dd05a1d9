"""One life of the service with real vLLM on the CPU: what it says is held against the plugin, and against a client's own clock."""

import json
import statistics
import sys
from types import SimpleNamespace

import httpx
import pytest

from fairclock.demo.live.programs import Program, find_vllm_python, free_port, running
from tests.probe_service.collecting import PATIENCE_SECONDS, Asked, Pulse, collector
from tests.sidecar.running import ROOT, environment, eventually

pytestmark = pytest.mark.integration

ONE_MS = 0.001
OF_THE_PLUGIN = {
    "gen_ai.latency.time_in_queue": ("queued", "scheduled"),
    "gen_ai.latency.time_in_model_prefill": ("scheduled", "first_token"),
    "gen_ai.latency.time_in_model_decode": ("first_token", "last_token"),
    "gen_ai.latency.time_in_model_inference": ("scheduled", "last_token"),
}
BLOCKING_TOKENS, TOKENS_LEFT = 160, 80
ROUNDS, MOST_ROUNDS = 7, 300
MOST_QUEUE_DIFFERENCE_SECONDS = 0.020
STREAMED = {"stream": True, "stream_options": {"include_usage": True, "continuous_usage_stats": True}}
CHAT = {"messages": [{"role": "user", "content": "Count."}]}
WRONG = {
    "no such model": (404, {"model": "other", "prompt": "x"}),
    "no prompt": (400, {}),
    "a number of tokens below 1": (400, {"prompt": "x", "max_tokens": -1}),
    "a prompt longer than the model takes": (400, {"prompt": [5] * 5_000}),
}


def read(asked):
    """The truth at the end of a stream, and the chunks before it with the instants at which they came."""
    *chunks, (_, kind, truth), (_, _, done) = asked.events()
    assert (kind, done) == ("fairclock", "[DONE]")
    return json.loads(truth), [(at, json.loads(data)) for at, _, data in chunks]


def queueing_round(port, pulse, number):
    """A request that holds the only place, and another sent when a known number of its tokens is left.

    `lag` is what the client's clock cannot tell apart from waiting in the queue: how long client and service took to hear each
    other when the other was sent, and again when the last token came. `is_abreast`: few tokens had come that the client had not
    seen when it sent the other; one that stood still may have sent that when the first request had ended. Both are known without
    what the service says.
    """
    blocking = Asked(
        port, request_id=f"blocking-{number}", prompt="a", max_tokens=BLOCKING_TOKENS, **STREAMED
    )
    last_token, lag, blocked, truth, is_abreast = None, 0.0, None, None, False
    for at, kind, data in blocking.events():
        if kind == "fairclock":
            truth = json.loads(data)
        elif data != "[DONE]":
            tokens = json.loads(data)["usage"]["completion_tokens"]
            if blocked is None and tokens >= BLOCKING_TOKENS - TOKENS_LEFT:
                blocked = Asked(port, request_id=f"blocked-{number}", prompt="b", max_tokens=2)
                is_abreast = blocking.behind() < TOKENS_LEFT // 10
                lag += pulse.lag_since(blocked.sent)
            if last_token is None and tokens == BLOCKING_TOKENS:
                last_token = at
                lag += pulse.lag_since(last_token)
    waited = json.loads(blocked.answer().text)["fairclock"]
    by_the_client = last_token - blocked.sent
    return SimpleNamespace(
        blocking=truth, blocked=waited, by_the_client=by_the_client, lag=lag, is_abreast=is_abreast
    )


def queueing_rounds(port):
    """Rounds until there are enough in which the client's clock is sure to half of what is tolerated."""
    rounds, pulse = [], Pulse(port)
    while len(sure(rounds)) < ROUNDS and len(rounds) < MOST_ROUNDS:
        rounds.append(queueing_round(port, pulse, len(rounds)))
    pulse.close()
    return rounds


def sure(rounds):
    # a request is more work than a look at how the service is: where that took half as long as may be, this may have taken longer
    return [each for each in rounds if each.is_abreast and each.lag < MOST_QUEUE_DIFFERENCE_SECONDS / 2]


def ask_all(port):
    """Eight requests at once, of each kind two: their truths by the engine's id, and the chunks of those that stream."""
    kinds = [("/v1/completions", {"prompt": "a"}), ("/v1/chat/completions", CHAT)]
    asked = [
        (Asked(port, path, request_id=f"all-{number}", max_tokens=12, **content, **stream), stream)
        for number, (path, content, stream) in enumerate(
            (path, content, stream) for path, content in kinds for stream in ({}, STREAMED) for _ in range(2)
        )
    ]
    truths, chunks = {}, []
    for each, stream in asked:
        if stream:
            truth, came = read(each)
            chunks.append([chunk for _, chunk in came])
        else:
            answer = each.answer()
            assert answer.headers["X-Request-Id"] == each.request_id
            truth = json.loads(answer.text)["fairclock"]
        truths[truth["engine_request_id"]] = truth
    return truths, chunks


def ask_wrongly(port):
    found = {}
    for name, (status, content) in WRONG.items():
        answer = Asked(port, request_id="wrong", **content).answer()
        found[name] = (status, answer.status, json.loads(answer.text))
    return found


def left(url, port, *, request_id, **settings):
    """What is told of a request whose client left before its end; where the answer was sooner, of the next one that it asked."""
    for number in range(MOST_ROUNDS):
        truth = left_once(url, port, request_id=f"{request_id}-{number}", **settings)
        if truth["finish_reason"] != "length":
            return truth
    raise AssertionError("every answer was whole before its client had left")


def left_once(url, port, **settings):
    """What is told of a request whose client left when it had seen something of the answer, or when it ran."""
    asked = Asked(port, prompt="a", max_tokens=1_500, **settings)
    if "stream" in settings:
        next(asked.events())
    else:
        running_ = f'vllm:num_requests_running{{engine="0",model_name="tiny"}} {1.0}'
        eventually(
            lambda: running_ in get(url, "/metrics").text or told_of(url, asked),
            what=lambda: "it never ran",
        )
    asked.leave()

    return eventually(lambda: told_of(url, asked), what=lambda: "the timings of who left were never kept")


def told_of(url, asked):
    found = get(url, f"/timings/{asked.request_id}")
    return found.json() if found.status_code == 200 and found.json()["queued"] else None


def get(url, path):
    return httpx.get(f"{url}{path}", timeout=PATIENCE_SECONDS, trust_env=False)


def before_ready(url):
    refused = httpx.post(f"{url}/v1/completions", json={}, timeout=PATIENCE_SECONDS, trust_env=False)
    return SimpleNamespace(ready=get(url, "/readyz"), metrics=get(url, "/metrics"), refused=refused)


@pytest.fixture(scope="module")
def life(tmp_path_factory, data_home, plugin):
    """Everything that is asked of one process, from before it is ready until it has ended."""
    folder, port = tmp_path_factory.mktemp("life"), free_port()
    url, found = f"http://127.0.0.1:{port}", SimpleNamespace()
    words = ["probe", "serve", "--port", str(port), "--keep-timings", "1000"]
    engine = ["--max-num-seqs", "1", "--max-model-len", "2048"]
    with collector() as collected:
        program = Program(
            name="the probe service",
            arguments=[sys.executable, "-c", "from fairclock.cli import main; main()", *words, "--", *engine],
            output=folder / "service.log",
            environment=environment(
                PYTHONPATH=f"{ROOT}:{plugin}",
                XDG_DATA_HOME=str(data_home),
                FAIRCLOCK_VLLM_PYTHON=str(find_vllm_python()),
                FAIRCLOCK_OTLP_ENDPOINT=collected.url,
                FAIRCLOCK_FLUSH_SECONDS="0.2",
            ),
        )
        with running(program) as service:
            service.await_answer(f"{url}/healthz", within_seconds=300.0)
            found.before = before_ready(url)
            service.await_answer(f"{url}/readyz", within_seconds=600.0)
            found.ready = get(url, "/readyz").json()
            found.truths, found.chunks = ask_all(port)
            found.rounds = queueing_rounds(port)
            found.wrong = ask_wrongly(port)
            found.unrouted = get(url, "/nowhere")
            found.left = [
                left(url, port, request_id="left-a", **STREAMED),
                left(url, port, request_id="left-b"),
            ]
            found.kept = {
                each["request_id"]: get(url, f"/timings/{each['request_id']}").json()
                for each in found.truths.values()
            }
            found.metrics, found.settings = get(url, "/metrics").text, get(url, "/settings").json()
            last = Asked(port, request_id="last", prompt="a", max_tokens=300, **STREAMED)
            events = last.events()
            next(events)
            service.process.terminate()
            found.last = list(events)
            found.code = service.process.wait(PATIENCE_SECONDS)
        found.plugin, found.log = collected.finished(), (folder / "service.log").read_text()
    return found


def test_before_it_is_ready_it_is_well_and_says_what_it_is_at(life):
    before = life.before
    assert (before.ready.status_code, before.ready.json()["ready"], before.metrics.status_code) == (
        503,
        False,
        200,
    )
    assert before.ready.json()["stage"] in {"weights", "prompts", "load"}
    assert (before.refused.status_code, before.refused.json()["error"]["code"]) == (503, 503)


def test_its_cold_start_is_measured_stage_by_stage(life):
    cold = life.ready["cold_start"]
    *stages, total = (cold["seconds"][name] for name in ("process", "weights", "prompts", "load", "total"))
    assert min(stages) > 0
    assert sum(stages) == pytest.approx(total)
    assert cold["warm_up"]["prompt_tokens"] == [16, 128, 512, 2016]
    assert cold["warm_up"]["first_request_seconds"] > 0
    assert 'fairclock_probe_service_cold_start_seconds{stage="total"} ' in life.metrics


def test_every_answer_says_what_the_plugin_says_of_its_request(life):
    truths = {**life.truths}
    for each in life.rounds:
        truths |= {truth["engine_request_id"]: truth for truth in (each.blocking, each.blocked)}
    assert len(truths) == 8 + 2 * len(life.rounds)
    for engine_request_id, truth in truths.items():
        record = life.plugin[engine_request_id]
        for attribute, (start, end) in OF_THE_PLUGIN.items():
            assert truth[end] - truth[start] == pytest.approx(record[attribute], abs=ONE_MS), attribute
        assert truth["prompt_tokens"] == record["gen_ai.usage.prompt_tokens"]
        assert truth["cached_tokens"] == record["gen_ai.usage.cached_tokens"]
        assert truth["completion_tokens"] == record["gen_ai.usage.completion_tokens"]
        assert truth["preemptions"] == record["fairclock.preemptions"]
        assert truth["finish_reason"] == record["gen_ai.response.finish_reason"] == "length"


def test_the_marks_lie_in_order_on_one_clock(life):
    names = ("arrived", "queued", "scheduled", "first_token", "last_token", "responded")
    for truth in life.truths.values():
        marks = [truth[name] for name in names]
        assert marks == sorted(marks)


def test_with_one_place_the_queue_is_what_the_clients_own_clock_says(life):
    judged = sure(life.rounds)
    assert len(judged) == ROUNDS, [(each.lag, each.is_abreast) for each in life.rounds]
    for each in judged:
        assert each.blocking["scheduled"] < each.blocked["queued"] < each.blocking["last_token"]
        assert each.blocking["last_token"] <= each.blocked["scheduled"]
    differences = [each.blocked["scheduled"] - each.blocked["queued"] - each.by_the_client for each in judged]
    assert abs(statistics.median(differences)) < MOST_QUEUE_DIFFERENCE_SECONDS, differences


def test_usage_comes_with_every_chunk_where_it_is_asked_for(life):
    assert len(life.chunks) == 4
    for chunks in life.chunks:
        counted = [chunk["usage"]["completion_tokens"] for chunk in chunks]
        assert counted == sorted(counted)
        assert counted[-1] == 12
        assert chunks[-1]["choices"] == []


def test_the_timings_are_those_of_the_answers(life):
    assert life.kept == {truth["request_id"]: truth for truth in life.truths.values()}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_answered_in_the_shape_of_openais_errors(life, name):
    wanted, status, answer = life.wrong[name]
    assert (status, answer["error"]["code"]) == (wanted, wanted)
    assert {"message", "type", "param", "code"} <= set(answer["error"])
    assert answer["fairclock"]["queued"] is None


def test_what_has_no_route_is_answered_so_too(life):
    assert (life.unrouted.status_code, life.unrouted.json()["error"]["type"]) == (404, "NotFoundError")


def test_of_a_client_that_left_it_is_known_how_far_the_engine_came(life):
    for truth in life.left:
        assert (truth["finish_reason"], truth["responded"]) == ("abort", None)
        assert truth["arrived"] < truth["queued"] <= truth["scheduled"] < truth["first_token"]
        assert 0 < truth["completion_tokens"] < 1_500


def test_vllms_own_metrics_are_there_and_the_engines_settings(life):
    assert "vllm:request_queue_time_seconds_bucket" in life.metrics
    assert "vllm:cache_config_info" in life.metrics
    engine = life.settings["engine"]
    assert (engine["device"], engine["max_num_seqs"], engine["max_model_len"]) == ("cpu", 1, 2048)
    assert life.settings["options"]["max-num-seqs"] == "1"
    assert life.settings["served_models"] == ["tiny"]


def test_told_to_end_it_answers_what_runs_and_ends_well(life):
    assert life.last[-1][2] == "[DONE]"
    assert json.loads(life.last[-2][2])["completion_tokens"] == 300
    assert life.code == 0
    assert "stopping: no more requests are taken" in life.log


def test_no_prompt_is_in_what_it_says(life):
    assert "Count." not in life.log
