"""What a client of the live demonstration does, however slow its machine is."""

import asyncio
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from fairclock.demo.live.calls import ACME_KEY, Behaviour, Call
from fairclock.demo.live.clients import make_call
from fairclock.model import Outcome

PATIENCE_SECONDS = 120.0


@pytest.fixture
def silent():
    """A service that takes every request and answers none; `asked` is set by the first that came whole."""
    asked, ends = threading.Event(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            asked.set()
            ends.wait(PATIENCE_SECONDS)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked = asked
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    ends.set()
    server.shutdown()
    server.server_close()
    thread.join()


def test_who_leaves_before_an_answer_has_asked_however_little_time_they_stay(silent, monkeypatch):
    monkeypatch.setattr("fairclock.demo.live.clients._LEAVES_AFTER_SECONDS", 0.0)
    call = Call(
        number=0, chat=False, stream=False, api_key=ACME_KEY, behaviour=Behaviour.LEAVES_BEFORE_ANSWER,
        completion_tokens=9,
    )  # fmt: skip

    async def leave():
        url = f"http://127.0.0.1:{silent.server_address[1]}"
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_SECONDS, trust_env=False) as client:
            return await make_call(client, call)

    seen = asyncio.run(leave())
    assert (seen.left, seen.status, seen.outcome) == (True, 0, Outcome.CLIENT_ABORTED)
    assert silent.asked.wait(PATIENCE_SECONDS)
