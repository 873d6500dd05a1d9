"""Fairclock's long-running commands as processes, and what is asked of them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 120.0
ANSWERING = re.compile(r"answering on (\S+)")
SPANS = re.compile(r"receiving OTLP spans: .*HTTP on (http\S+);")


def environment(**variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FAIRCLOCK_")}
    return {**kept, "PYTHONPATH": str(ROOT), **variables}


def fairclock(*words, **variables):
    """Run a command to its end and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "fairclock", *map(str, words)],
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def eventually(holds, *, what):
    """Return what `holds` returns as soon as it is true; fail with `what()` where that takes too long."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not (found := holds()):
        assert time.monotonic() < until, what()
        time.sleep(0.05)
    return found


class Running:
    """A command that runs until the end of ``with``; `said` is what it wrote on standard error so far."""

    def __init__(self, *words, folder, **variables):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fairclock", *map(str, words)],
            cwd=folder,
            env=environment(XDG_DATA_HOME=str(folder), **variables),
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stderr:
            self._lines.append(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self._process.stderr.close()

    @property
    def said(self):
        return "".join(self._lines)

    @property
    def pid(self):
        return self._process.pid

    def says(self, pattern, *, times=1):
        """Wait until it says so, and return the match."""

        def found():
            assert self._process.poll() is None, self.said
            matches = list(re.finditer(pattern, self.said))
            return matches[times - 1] if len(matches) >= times else None

        return eventually(found, what=lambda: f"{pattern} was never said:\n{self.said}")

    def kill(self):
        self._process.kill()
        self._process.wait()

    def stop(self):
        """End it as an administrator does, and return its exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(PATIENCE_SECONDS)


def figures(url, **settings):
    """Return the figures at ``/metrics`` by their text before the value."""
    text = httpx.get(f"{url}/metrics", timeout=PATIENCE_SECONDS, **settings).text
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def stored(url, kind, **settings):
    """Return how many rows of a kind an `up` says to have stored."""
    return sum(
        value
        for name, value in figures(url, **settings).items()
        if name.startswith("fairclock_rows_total") and f'kind="{kind}"' in name and 'outcome="stored"' in name
    )
