"""The console in `fairclock up`: at the address where it answers, or at its own; health checks stay open."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from pathlib import Path

CONFIGURATION = """
otlp: {{grpc: "off", http: "off"}}
http: {{address: "127.0.0.1:0"}}
console: {console}
"""
ANSWER_SECONDS = 120
"""How long an answer may take: the first of each asks for everything, on a machine that has other things to do."""
CONSOLE = re.compile(r"console: (http://127\.0\.0\.1:\d+)/")
ANSWERING = re.compile(r"answering on (http://127\.0\.0\.1:\d+)")


@pytest.fixture
def up(tmp_path: Path):
    """Run `up`, and return where it answers and where its console is (None: nowhere)."""
    running: list[subprocess.Popen[str]] = []

    def start(console: str) -> tuple[str, str | None]:
        file = tmp_path / "fairclock.yaml"
        file.write_text(CONFIGURATION.format(console=console))
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "fairclock",
                "up",
                "-c",
                str(file),
                "--dsn",
                f"chdb://{tmp_path / 'store'}",
            ],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        running.append(process)
        said = ""
        assert process.stderr is not None
        while (line := process.stderr.readline()) and "Ctrl" not in line:
            said += line
            if ANSWERING.search(said) and ("enabled: false" in console or CONSOLE.search(said)):
                break
        answering, found = ANSWERING.search(said), CONSOLE.search(said)
        assert answering is not None, said
        return answering[1], None if found is None else found[1]

    yield start
    for process in running:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)


def get(address: str, **more: Any) -> httpx.Response:
    return httpx.get(address, timeout=ANSWER_SECONDS, **more)


def test_it_answers_beside_what_was_there(up):
    answering, console = up("{limit: 2min}")
    assert answering == console
    assert get(f"{console}/healthz").text == "ok\n"
    assert "fairclock_" in get(f"{console}/metrics").text
    assert get(f"{console}/api/v1/self").json()["name"] == "local"
    page = get(f"{console}/")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert get(f"{console}/api/v1/overview").json()["lacking"] == ["no_contracts"]
    stranger = get(f"{console}/api/v1/self", headers={"Host": "evil.example"})
    assert stranger.status_code == 401


def test_it_answers_at_an_address_of_its_own_and_asks_for_a_token_where_told_to(up):
    answering, console = up('{address: "127.0.0.1:0", trust_loopback: false}')
    assert answering != console
    assert get(f"{answering}/").status_code == 404
    assert get(f"{console}/healthz").status_code == 303
    assert get(f"{console}/api/v1/self").status_code == 401


def test_there_is_none_where_none_is_wanted(up):
    answering, console = up("{enabled: false}")
    assert console is None
    assert get(f"{answering}/").status_code == 404
    assert get(f"{answering}/healthz").status_code == 200
