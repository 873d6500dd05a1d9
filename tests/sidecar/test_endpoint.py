"""``POST /v1/frames``: who may send, what is taken, and when the answer is given."""

import asyncio
import threading

import httpx
import pytest
from starlette.applications import Starlette

from exporters.forwarding import endpoint
from exporters.forwarding.batches import MEDIA_TYPE, encode_batch
from exporters.forwarding.endpoint import Permission, frames_route
from fairclock.errors import SpoolFull, SpoolUnavailable, StoreUnreachable
from tests.spool.factories import good_frame

FRAMES = [good_frame(number) for number in range(3)]
BODY = encode_batch(FRAMES, sent_us=1)
PERMISSIONS = {"good": Permission.GRANTED, "tenant": Permission.OTHER_SCOPE}


def asked(app, body, headers, *, times=1):
    """Post a body so many times at once and return the answer, or the list of them."""

    async def post():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://up") as client:
            posts = (client.post("/v1/frames", content=body, headers=headers) for _ in range(times))
            return await asyncio.gather(*posts)

    answers = asyncio.run(post())
    return answers[0] if times == 1 else answers


class Up:
    """The receiving end with a spool in memory."""

    def __init__(self):
        self.frames, self.counted, self.failure, self.away = [], 0, None, None
        route = frames_route(self.append, self.permission, counted=self.count)
        self.app = Starlette(routes=[route])

    def append(self, frames):
        if self.failure is not None:
            raise self.failure
        self.frames += frames

    def permission(self, token):
        if self.away is not None:
            raise self.away
        return PERMISSIONS.get(token, Permission.UNKNOWN)

    def count(self, frames):
        self.counted += frames

    def post(self, body=BODY, **headers):
        sent = {"Authorization": "Bearer good", "Content-Type": MEDIA_TYPE, **headers}
        sent = {name.replace("_", "-"): value for name, value in sent.items() if value is not None}
        return asked(self.app, body, sent)


@pytest.fixture
def up():
    return Up()


def test_frames_are_taken_and_counted(up):
    answer = up.post()
    assert (answer.status_code, answer.json()) == (200, {"frames": 3})
    assert (up.frames, up.counted) == (FRAMES, 3)


def test_the_word_bearer_may_be_written_in_any_case(up):
    assert up.post(Authorization="bEARER good").status_code == 200


@pytest.mark.parametrize(
    ("headers", "status", "said"),
    [
        pytest.param({"Authorization": None}, 401, "not known here", id="no token"),
        pytest.param({"Authorization": "Bearer bad"}, 401, "not known here", id="a token that is not known"),
        pytest.param(
            {"Authorization": "Basic good"}, 401, "not known here", id="another kind of authorisation"
        ),
        pytest.param({"Authorization": "good"}, 401, "not known here", id="a token alone"),
        pytest.param({"Authorization": "Bearer tenant"}, 403, "another scope", id="a token of another scope"),
        pytest.param({"Content_Type": "text/plain"}, 415, "same Fairclock", id="another kind of body"),
        pytest.param({"Content-Type": None}, 415, "same Fairclock", id="no kind of body"),
        pytest.param(
            {"Content-Type": MEDIA_TYPE.replace("v1", "v2")}, 415, "same Fairclock", id="a later version"
        ),
    ],
)
def test_who_is_refused_is_told_why_and_nothing_is_taken(up, headers, status, said):
    headers = {"Content-Type" if name == "Content_Type" else name: value for name, value in headers.items()}
    answer = up.post(**headers)
    assert answer.status_code == status
    assert said in answer.json()["problem"]
    assert (answer.headers.get("WWW-Authenticate") == "Bearer") == (status == 401)
    assert up.frames == []


@pytest.mark.parametrize(
    "body", [b"", BODY[:-1], BODY + b"x", b"\x00" * 100], ids=["empty", "cut", "longer", "zeros"]
)
def test_a_damaged_body_is_refused_as_a_whole(up, body):
    answer = up.post(body)
    assert answer.status_code == 400
    assert "the batch" in answer.json()["problem"]
    assert (up.frames, up.counted) == ([], 0)


@pytest.mark.parametrize(
    "failure", [SpoolFull("spool", "is full"), SpoolUnavailable("spool", "no space left")]
)
def test_what_cannot_be_kept_is_to_be_sent_again_later(up, failure):
    up.failure = failure
    answer = up.post()
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.json() == {"problem": str(failure)}
    assert up.counted == 0
    up.failure = None
    assert up.post().status_code == 200


def test_while_tokens_cannot_be_read_nobody_is_told_to_be_unknown(up):
    up.away = StoreUnreachable("store", "nobody answers")
    answer = up.post()
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert up.frames == []


def test_too_large_a_body_is_told_so(up, monkeypatch):
    monkeypatch.setattr(endpoint, "LARGEST_BATCH_BYTES", len(BODY) - 1)
    assert up.post().status_code == 413
    monkeypatch.setattr(endpoint, "LARGEST_BATCH_BYTES", len(BODY))
    assert up.post().status_code == 200


def test_a_body_that_does_not_come_is_not_waited_for(up, monkeypatch):
    monkeypatch.setattr(endpoint, "_BODY_SECONDS", 0.0)
    assert up.post().status_code == 408
    assert up.frames == []


def test_only_a_few_bodies_are_held_at_a_time():
    inside, most, guard, gate = 0, 0, threading.Lock(), threading.Barrier(endpoint._MOST_AT_ONCE)

    def append(_):
        nonlocal inside, most
        with guard:
            inside += 1
            most = max(most, inside)
        gate.wait(60)
        with guard:
            inside -= 1

    app = Starlette(routes=[frames_route(append, lambda _: Permission.GRANTED)])
    headers = {"Authorization": "Bearer good", "Content-Type": MEDIA_TYPE}
    answers = asked(app, BODY, headers, times=3 * endpoint._MOST_AT_ONCE)
    assert [answer.status_code for answer in answers] == [200] * len(answers)
    assert most == endpoint._MOST_AT_ONCE
