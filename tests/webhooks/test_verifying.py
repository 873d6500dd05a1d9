"""The receiver's sample against the real sender: what is genuine passes, whatever was touched does not."""

import importlib.util
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from datetime import timedelta
from pathlib import Path

import pytest

from exporters.webhooks.formats.registry import FORMATS
from tests.webhooks.factories import NOW, SECRET, good_event, outgoing

SAMPLE = Path(__file__).parents[2] / "examples" / "verify_webhook.py"
SPEC = importlib.util.spec_from_file_location("verify_webhook", SAMPLE)
sample = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(sample)


def sent(*events, now=NOW):
    return FORMATS["json"].compose(outgoing("json", events or [good_event()], now=now))


def verify(request, *, at=NOW, secret=SECRET, body=None, **headers):
    given = {**request.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return sample.verify(
        request.body if body is None else body,
        {name: value for name, value in given.items() if value is not None},
        secret,
        now=at.timestamp(),
    )


def test_what_was_sent_is_genuine():
    events = [good_event(), good_event(alert_id="苏黎世", summary_en="Zürich")]
    assert verify(sent(*events)) == [event.event_id for event in events]


@pytest.mark.parametrize("seconds", [-300, 300])
def test_clocks_may_differ_by_minutes(seconds):
    assert verify(sent(), at=NOW + timedelta(seconds=seconds))


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"at": NOW + timedelta(seconds=301)}, id="played again later"),
        pytest.param({"at": NOW - timedelta(seconds=301)}, id="from the future"),
        pytest.param({"secret": "another"}, id="another secret"),
        pytest.param({"body": b"{}"}, id="another body"),
        pytest.param({"Fairclock_Timestamp": str(int(NOW.timestamp()) + 1)}, id="another time"),
        pytest.param({"Fairclock_Timestamp": None}, id="no time"),
        pytest.param({"Fairclock_Timestamp": "²"}, id="a time that is no number"),
        pytest.param({"Fairclock_Signature": None}, id="no signature"),
        pytest.param({"Fairclock_Signature": "v1="}, id="an empty signature"),
        pytest.param({"Fairclock_Signature": "v1=\u00fc"}, id="a signature that is no ASCII"),
    ],
)
def test_what_was_touched_is_not_genuine(changes):
    with pytest.raises(sample.NotGenuine):
        verify(sent(), **changes)


def test_a_body_that_was_written_anew_is_not_genuine():
    request = sent()
    with pytest.raises(sample.NotGenuine):
        verify(request, body=json.dumps(json.loads(request.body)).encode())


def test_a_signature_of_another_version_is_not_taken_for_this_one():
    request = sent()
    digits = request.headers["Fairclock-Signature"].removeprefix("v1=")
    with pytest.raises(sample.NotGenuine):
        verify(request, Fairclock_Signature=f"v2={digits}")
    assert verify(request, Fairclock_Signature=f"v2=00, v1={'0' * 64},v1={digits}")


def test_the_sample_runs_as_it_stands():
    """The program of the example, a genuine request, the same again, and one that is not."""
    program = (
        "import runpy, sys, http.server as h\n"
        "class S(h.HTTPServer):\n"
        "    def __init__(self, address, handler):\n"
        "        super().__init__(address, handler)\n"
        "        print(self.server_address[1], flush=True)\n"
        "h.HTTPServer = S\n"
        f"sys.argv = ['x', '0']; runpy.run_path({str(SAMPLE)!r}, run_name='__main__')\n"
    )
    from datetime import UTC, datetime

    child = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "FAIRCLOCK_WEBHOOK_SECRET": SECRET},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with child:
        try:
            port = int(child.stdout.readline())
            request = sent(now=datetime.now(UTC))

            def post(body):
                made = urllib.request.Request(
                    f"http://127.0.0.1:{port}/", data=body, headers=dict(request.headers), method="POST"
                )
                try:
                    with urllib.request.urlopen(made, timeout=60) as answer:
                        return answer.status
                except urllib.error.HTTPError as error:
                    return error.code

            assert [post(request.body), post(request.body), post(b"{}")] == [204, 204, 401]
        finally:
            child.terminate()
        assert child.stdout.read() == "firing FIRING: p99 of acme-2026 burns its budget 14.4 times too fast\n"
