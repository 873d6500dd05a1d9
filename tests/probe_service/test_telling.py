"""The truth in answers: where it stands, what it says, and that nothing else of an answer changes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference_probe.service.observation import current_exchange
from inference_probe.service.telling import TruthTelling
from inference_probe.service.timings import Timings
from tests.probe_service.scene import application, ask, output, said, state

KEYS = [
    "schema", "request_id", "engine_request_id", "arrived", "queued", "scheduled", "first_token", "last_token",
    "responded", "wall_arrived", "prompt_tokens", "cached_tokens", "completion_tokens", "finish_reason", "preemptions",
]  # fmt: skip
DONE = b"data: [DONE]\n\n"
FINISHED = (output(), output(tokens=(2, 3), finished=True, reason="stop"))


def told(app, *, timings=None, path="/v1/completions", **settings):
    return ask(TruthTelling(app, Timings() if timings is None else timings), path, **settings)


def test_a_json_body_gets_the_truth_as_one_more_key_and_its_new_length():
    _, headers, pieces = told(application(b'{"id":"cmpl-a"}', outputs=FINISHED), X_Request_Id="a")
    body = b"".join(pieces)
    assert int(headers["content-length"]) == len(body)
    found = json.loads(body)
    assert found["id"] == "cmpl-a"
    assert list(found["fairclock"]) == KEYS
    assert found["fairclock"] | {"arrived": 0, "responded": 0, "wall_arrived": 0} == {
        "schema": "fairclock.truth/1", "request_id": "a", "engine_request_id": "cmpl-a-0", "arrived": 0, "queued": 101.0,
        "scheduled": 103.0, "first_token": 104.5, "last_token": 107.0, "responded": 0, "wall_arrived": 0,
        "prompt_tokens": 3, "cached_tokens": 2, "completion_tokens": 5, "finish_reason": "stop", "preemptions": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([b'data: {"a":1}\n\n', DONE], id="each event is a piece"),
        pytest.param([b'data: {"a":1}\n\n' + DONE], id="all of it is one piece"),
        pytest.param([b": keep-alive\n\n", b'data: {"a":1}\n\n', DONE], id="comments keep it alive"),
        pytest.param(
            [b'data: {"text":"data: [DONE]"}\n\n', DONE],
            id="the model writes what ends a stream, and means no end",
        ),
    ],
)
def test_a_stream_gets_the_truth_as_its_last_event_but_one(pieces):
    app = application(*pieces, content_type="text/event-stream; charset=utf-8", outputs=FINISHED)
    timings = Timings()
    _, _, found = told(app, timings=timings, X_Request_Id="a")
    body = b"".join(found)
    event = b"event: fairclock\ndata: " + timings.find("a") + b"\n\n"
    assert body == b"".join(pieces)[: -len(DONE)] + event + DONE
    assert said(found)["finish_reason"] == "stop"


def test_a_stream_that_ends_without_its_last_event_still_says_the_truth():
    app = application(b'data: {"a":1}\n\n', content_type="text/event-stream", outputs=FINISHED)
    _, _, pieces = told(app)
    assert b"".join(pieces).endswith(b'"preemptions":1}\n\n')


@given(st.lists(st.text(alphabet="ab:\n []DONEdat", max_size=30), max_size=6), st.booleans())
def test_without_the_truth_every_answer_is_byte_for_byte_the_applications(texts, is_stream):
    pieces = [text.encode() for text in texts]
    kind = "text/event-stream" if is_stream else "application/json"
    _, _, found = told(application(*pieces, content_type=kind), X_Fairclock_Truth="off")
    assert b"".join(found) == b"".join(pieces)


def test_whoever_wants_no_truth_in_the_answer_finds_it_among_the_timings():
    timings = Timings()
    told(application(b"{}", outputs=FINISHED), timings=timings, X_Request_Id="a", X_Fairclock_Truth="OFF")
    assert json.loads(timings.find("a"))["completion_tokens"] == 5


def test_an_error_says_when_it_came_and_that_the_engine_never_had_it():
    body = b'{"error":{"message":"no such model","type":"NotFoundError","param":null,"code":404}}'
    status, _, pieces = told(application(body, status=404))
    truth = said(pieces)
    assert status == 404
    assert [truth[name] for name in ("engine_request_id", "queued", "last_token", "completion_tokens")] == [
        None
    ] * 4
    assert truth["responded"] >= truth["arrived"]


def test_a_client_that_leaves_is_remembered_as_having_left():
    timings = Timings()
    app = application(
        b'data: {"a":1}\n\n', content_type="text/event-stream", outputs=(output(),), leaves=True
    )
    told(app, timings=timings, X_Request_Id="a")
    truth = json.loads(timings.find("a"))
    assert (truth["finish_reason"], truth["responded"], truth["first_token"]) == ("abort", None, 104.5)


def test_an_answer_that_was_whole_before_the_client_left_has_the_engines_own_end():
    timings = Timings()
    app = application(b"data: x\n\n", content_type="text/event-stream", outputs=FINISHED, leaves=True)
    told(app, timings=timings, X_Request_Id="a")
    truth = json.loads(timings.find("a"))
    assert (truth["finish_reason"], truth["responded"]) == ("stop", None)


def test_a_mark_that_was_never_reached_is_no_zero_of_a_clock():
    waiting = state(scheduled_ts=0.0, first_token_ts=0.0, last_token_ts=0.0)
    _, _, pieces = told(application(b"{}", outputs=(output(metrics=waiting),)))
    truth = said(pieces)
    assert [truth[name] for name in ("queued", "scheduled", "first_token", "last_token")] == [
        101.0,
        None,
        None,
        None,
    ]


def test_an_id_that_the_client_sent_comes_back_and_reaches_vllm():
    app = application(b"{}")
    _, headers, _ = told(app, X_Request_Id="order-7")
    assert (headers["x-request-id"], app.headers["x-request-id"]) == ("order-7", "order-7")


def test_a_request_without_an_id_gets_one_that_vllm_has_too():
    app = application(b"{}", outputs=FINISHED)
    _, headers, pieces = told(app)
    assert len(headers["x-request-id"]) == 32
    assert headers["x-request-id"] == app.headers["x-request-id"] == said(pieces)["request_id"]


@pytest.mark.parametrize(
    "request_id",
    [
        pytest.param("a" * 201, id="longer than 200 characters"),
        pytest.param("", id="empty"),
        pytest.param("a b", id="with a space"),
        pytest.param("é", id="not ASCII"),
        pytest.param("a\x7f", id="with a control character"),
    ],
)
def test_an_id_that_cannot_be_kept_is_refused_in_words_that_clients_read(request_id):
    timings = Timings()
    status, _, pieces = told(application(b"{}"), timings=timings, X_Request_Id=request_id)
    error = json.loads(b"".join(pieces))["error"]
    assert (status, error["code"], error["type"], error["param"]) == (
        400,
        400,
        "BadRequestError",
        "X-Request-Id",
    )
    assert len(timings) == 0


def test_other_paths_bear_the_id_and_are_left_alone():
    timings = Timings()
    _, headers, pieces = told(application(b'{"data":[]}'), timings=timings, path="/v1/models", method="GET")
    assert (b"".join(pieces), len(timings)) == (b'{"data":[]}', 0)
    assert headers["x-request-id"]


def test_what_becomes_known_when_the_engine_gives_a_request_up_is_kept_after_its_client_has_left():
    timings = Timings()

    async def app(scope, receive, send):
        app.exchange = current_exchange.get()
        app.exchange.begin("cmpl-a-0", sequences=1, is_delta=False)
        assert (await receive())["type"] == "http.disconnect"
        # vLLM answers whoever is not there any more, and gives the request up afterwards
        await application(b"null")(scope, receive, send)

    told(app, timings=timings, X_Request_Id="a", left=True)
    before = json.loads(timings.find("a"))
    app.exchange.note_abort("cmpl-a-0", state(num_generation_tokens=9), prompt_tokens=3)
    after = json.loads(timings.find("a"))
    assert [(each["finish_reason"], each["responded"]) for each in (before, after)] == [("abort", None)] * 2
    assert (before["queued"], after["queued"], after["completion_tokens"], after["prompt_tokens"]) == (
        None,
        101.0,
        9,
        3,
    )


def test_a_request_that_the_engine_gives_up_while_its_client_waits_is_answered_with_its_truth():
    async def app(scope, receive, send):
        exchange = current_exchange.get()
        exchange.begin("cmpl-a-0", sequences=1, is_delta=False)
        exchange.note_abort("cmpl-a-0", state(last_token_ts=0.0), prompt_tokens=3)
        await application(b'{"error":{}}', status=500)(scope, receive, send)

    truth = said(told(app)[2])
    assert (truth["scheduled"], truth["last_token"], truth["finish_reason"]) == (103.0, None, None)
    assert truth["responded"] is not None
