"""A probe over a real connection: every mark, every class of failure, and who a probe says it is."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from dataclasses import replace

import pytest

from fairclock.model.probes import ProbeOutcome
from inference_probe.prober.asking import Asker
from inference_probe.prober.connections import Connection, Connections
from inference_probe.prober.endpoints import endpoint
from inference_probe.prober.latencies import latencies
from inference_probe.prober.plans import Asking
from inference_probe.prober.ranks import NEVER
from inference_probe.prober.running import run_open
from inference_probe.prober.schedules import constant
from tests.prober.servers import answer, chat_stream, plainly, serving, sse
from tests.sidecar.certificates import make_authority, make_certificate

ASKING = Asking(run="r1", model="m", tenant="fairclock-probe", completion_tokens=3, timeout_seconds=600.0)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """However slow this machine is, an idle connection is not too old for it, nor the end of one seen too late."""
    monkeypatch.setattr("inference_probe.prober.asking._CLOSING_SECONDS", 600.0)
    monkeypatch.setattr("inference_probe.prober.connections._MOST_IDLE_SECONDS", 600.0)


def asked(url, *, asking=ASKING, times=1, reuses=True, ca=None):
    """Ask one after the other on one clock."""

    async def ask():
        place = endpoint(url, ca=ca)
        connections = Connections(place, reuses=reuses)
        loop = asyncio.get_running_loop()
        started = loop.time()
        found = []
        for number in range(times):
            question = asking.question(place, number, prompt="a b c", completion_tokens=3)
            found.append(await Asker(connections).ask(question, started=started, intended=loop.time()))
        connections.close()
        return found

    return asyncio.run(ask())


def test_marks_follow_each_other_and_the_truth_is_kept():
    truth = {"schema": "fairclock.truth/1", "engine_request_id": "chatcmpl-x"}

    async def answers(headers, body):
        yield answer(chat_stream(3, truth=truth))

    with serving(answers) as service:
        (seen,) = asked(service.url)
    assert seen.outcome is ProbeOutcome.OK
    marks = (
        seen.intended,
        seen.sent,
        seen.connected,
        seen.first_byte,
        seen.first_token,
        seen.last_token,
        seen.done,
    )
    assert list(marks) == sorted(marks)
    assert (len(seen.tokens), seen.prompt_tokens, seen.completion_tokens) == (3, 9, 3)
    assert (seen.finish_reason, seen.truth, seen.secured, seen.error) == ("length", truth, None, None)


def test_a_probe_says_what_it_is_and_whose():
    with serving(plainly) as service:
        (seen,) = asked(service.url)
    headers, body = service.requests[0]
    assert headers["x-fairclock-probe"] == "r1"
    assert (headers["x-tenant"], headers["x-request-id"]) == ("fairclock-probe", seen.request_id)
    assert headers["traceparent"].split("-")[1] == seen.trace_id
    assert body["stream_options"] == {"include_usage": True, "continuous_usage_stats": True}


def test_an_open_connection_is_used_again_and_has_no_handshake():
    with serving(plainly) as service:
        first, second = asked(service.url, times=2)
    assert first.connected is not None
    assert (second.connected, second.outcome, service.connections) == (None, ProbeOutcome.OK, 1)


def test_fresh_connections_are_fresh():
    with serving(plainly) as service:
        found = asked(service.url, times=3, reuses=False)
    assert [each.connected is not None for each in found] == [True] * 3
    assert service.connections == 3


def test_a_connection_that_was_being_closed_is_replaced_and_said():
    async def answers(headers, body):
        if service.connections == 1 and len(service.requests) == 2:
            yield None
        yield answer()

    with serving(answers) as service:
        first, second = asked(service.url, times=2)
    assert (first.again, second.again, second.outcome) == (False, True, ProbeOutcome.OK)


def test_a_connection_that_breaks_while_it_is_answered_is_a_failure_and_is_not_asked_again(monkeypatch):
    monkeypatch.setattr("inference_probe.prober.asking._CLOSING_SECONDS", 0.0)

    async def answers(headers, body):
        if len(service.requests) == 2:
            yield None
        yield answer()

    with serving(answers) as service:
        _, second = asked(service.url, times=2)
        assert (second.again, second.outcome.value, second.error) == (
            False,
            "unreachable",
            "connection broke",
        )
        assert len(service.requests) == 2


def test_connections_that_a_burst_has_opened_are_not_held_for_ever(monkeypatch):
    monkeypatch.setattr("inference_probe.prober.connections._MOST_IDLE_SECONDS", 0.0)

    async def ask():
        place = endpoint(service.url)
        connections = Connections(place, reuses=True)
        opened = [(await connections.open(lambda _: None))[0] for _ in range(3)]
        for each in opened:
            connections.give_back(each)
        return [each.is_open for each in opened]

    with serving(plainly) as service:
        assert asyncio.run(ask()) == [False, False, False]


def test_the_handshake_of_tls_is_a_mark_of_its_own_and_a_stranger_is_not_trusted(tmp_path):
    trusted = make_authority(tmp_path)
    stranger = make_authority(tmp_path, "stranger")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(*make_certificate(tmp_path))
    with serving(plainly, tls=tls) as service:
        first, second = asked(service.url, times=2, ca=trusted)
        (refused,) = asked(service.url, ca=stranger)
    assert first.sent <= first.connected <= first.secured <= first.first_byte
    assert (first.outcome, second.connected, second.secured) == (ProbeOutcome.OK, None, None)
    assert (refused.outcome.value, refused.error) == ("unreachable", "TLS: CERTIFICATE_VERIFY_FAILED")
    assert refused.connected is not None
    assert latencies([first, refused], "tls").at(100) == NEVER
    assert (latencies([first, refused], "connect").n, latencies([second], "tls").n) == (2, 0)


async def silent(headers, body):
    await asyncio.sleep(3600)
    yield b""


async def half(headers, body):
    yield answer()[:90]
    await asyncio.sleep(3600)


def giving(*pieces):
    async def answers(headers, body):
        for piece in pieces:
            yield piece

    return answers


@pytest.mark.parametrize(
    ("answers", "outcome", "error"),
    [
        pytest.param(giving(answer(b"", status="429 Too Many")), "quota_rejected", "http:429", id="429"),
        pytest.param(giving(answer(b"", status="503 Unavailable")), "capacity_rejected", "http:503", id="503"),
        pytest.param(giving(answer(b"", status="504 Timeout")), "timeout", "http:504", id="the gateway's time-out"),
        pytest.param(giving(answer(b"x", status="500 Error")), "server_error", "http:500", id="500"),
        pytest.param(giving(answer(b"", status="401 No")), "client_error", "http:401", id="a wrong key is the probe's own fault"),
        pytest.param(giving(answer(b"", status="302 Found")), "client_error", "http:302", id="redirects are not followed"),
        pytest.param(giving(None), "unreachable", "connection broke", id="closed without a word"),
        pytest.param(giving(b"nonsense\r\n\r\n"), "unreachable", "not HTTP: no HTTP/1.1 status line", id="no HTTP"),
        pytest.param(giving(answer()[:-30], None), "incomplete", "connection broke", id="broken off in the answer"),
        pytest.param(giving(answer(sse({"choices": [{"delta": {}}]}, done=False))), "incomplete", "it does not say that it ended", id="a stream without an end"),
        pytest.param(giving(answer(sse({"error": {"type": "boom"}}))), "incomplete", "error in the answer: boom", id="an error in the stream"),
        pytest.param(giving(answer(b"data: {\n\ndata: [DONE]\n\n")), "wrong_answer", "not an OpenAI-compatible answer", id="nonsense"),
    ],
)  # fmt: skip
def test_what_goes_wrong_has_a_class(answers, outcome, error):
    with serving(answers) as service:
        (seen,) = asked(service.url)
    assert (seen.outcome.value, seen.error) == (outcome, error)


@pytest.mark.parametrize(
    ("answers", "changes", "outcome", "error"),
    [
        pytest.param(silent, {}, "timeout", "timeout:first byte", id="no first byte in time"),
        pytest.param(half, {}, "timeout", "timeout:answer", id="no end in time"),
        pytest.param(half, {"cancel_ratio": 1.0, "cancel_seconds": 300.0}, "aborted", "left:answer", id="left in the answer"),
    ],
)  # fmt: skip
def test_time_outs_and_cancellations_say_where_they_were(answers, changes, outcome, error, monkeypatch):
    """The loop's clock is put on, past every limit, as soon as the probe is where it is to be."""
    arrived = []
    take = Connection.data_received
    monkeypatch.setattr(
        Connection, "data_received", lambda self, data: (take(self, data), arrived.append(data))
    )

    def is_there():
        return arrived if answers is half else service.requests

    async def ask():
        loop = asyncio.get_running_loop()
        ahead = 0.0
        monkeypatch.setattr(loop, "time", lambda: time.monotonic() + ahead)
        place = endpoint(service.url)
        question = replace(ASKING, **changes).question(place, 0, prompt="a b c", completion_tokens=3)
        asker = Asker(Connections(place, reuses=True))
        asking = asyncio.create_task(asker.ask(question, started=loop.time(), intended=loop.time()))
        while not is_there() and not asking.done():  # noqa: ASYNC110 - it comes in another thread
            await asyncio.sleep(0.002)
        ahead = 3_600.0
        return await asking

    with serving(answers) as service:
        seen = asyncio.run(ask())
    assert (seen.outcome.value, seen.error, seen.done) == (outcome, error, None)


def test_nobody_there_is_unreachable():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        (seen,) = asked(f"http://127.0.0.1:{free.getsockname()[1]}")
    assert (seen.outcome.value, seen.error) == ("unreachable", "connect: ECONNREFUSED")
    assert latencies([seen], "connect").values == (NEVER,)


def test_a_standstill_of_a_real_service_is_never_shorter_than_it_was():
    """Every probe that was meant to begin before the service goes on again waits at least until then."""
    opens = asyncio.Event()

    async def answers(headers, body):
        await opens.wait()
        yield answer()

    async def run(url):
        place = endpoint(url)
        arrivals = constant(rate=200, duration_seconds=0.5)
        connections = Connections(place, reuses=True)
        loop = asyncio.get_running_loop()
        started = loop.time()
        going_on = []

        def go_on():
            going_on.append(loop.time() - started)
            service.call(opens.set)

        loop.call_later(0.7, go_on)
        ran = await run_open(
            Asker(connections), arrivals, list(ASKING.questions(place, arrivals)), started=started
        )
        connections.close()
        return ran, going_on[0]

    with serving(answers) as service:
        ran, until = asyncio.run(run(service.url))
    found = latencies(ran.seen, "end_to_end")
    least = sorted(until - each.intended for each in ran.seen)
    assert found.n == 100
    assert all(value >= bound for value, bound in zip(found.values, least, strict=True))
