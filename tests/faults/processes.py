"""Processes that are killed and started again, and a server that does what it is told."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

from fairclock.demo.live.programs import free_port
from tests.faults.misbehaving_server import BEHAVIOUR, MISBEHAVED, PASSWORD, SERVING, USER

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 120.0


def environment(**variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FAIRCLOCK_")}
    return {**kept, "PYTHONPATH": str(ROOT), **variables}


def eventually(holds, *, what, seconds=PATIENCE_SECONDS, every=0.05):
    """Return what `holds` returns as soon as it is true; fail with `what()` where that takes too long."""
    until = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < until, what()
        time.sleep(every)
    return found


def answers(port):
    """Return whether anybody accepts connections at `port`."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


class Restarted:
    """A command that may be killed and started again; what it says on standard error is kept in a file."""

    def __init__(self, *words, folder, port, **variables):
        self.words = [sys.executable, "-m", *map(str, words)]
        self.folder, self.port, self.variables = folder, port, variables
        self.errors = folder / f"{words[1] if words[0] == 'fairclock' else 'server'}.stderr"
        self.process = None
        self.kills = 0

    def start(self):
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                self.words, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors,
                env=environment(XDG_DATA_HOME=str(self.folder), **self.variables),
            )  # fmt: skip
        return self

    @property
    def said(self):
        return self.errors.read_text(errors="replace")

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def wait_until_it_answers(self):
        def does():
            assert self.is_running, self.said
            return self.is_ready()

        eventually(does, what=lambda: self.said)
        return self

    def is_ready(self):
        """Return whether it does its work."""
        return answers(self.port)

    def kill(self):
        """End it at once; it must not have ended before."""
        assert self.is_running, self.said
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.kills += 1

    def stop(self):
        """End it as an administrator does."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE_SECONDS) == 0, self.said
        self.process.stdin.close()

    def close(self):
        if self.is_running:
            self.process.kill()
            self.process.wait()
        if self.process is not None and not self.process.stdin.closed:
            self.process.stdin.close()

    def resident_bytes(self):
        """Return how much memory it takes now."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


class Server(Restarted):
    """The misbehaving server."""

    def __init__(self, folder):
        self.store_folder = folder / "server"
        self.store_folder.mkdir(mode=0o700)
        port = free_port()
        super().__init__("tests.faults.misbehaving_server", self.store_folder, port, folder=folder, port=port)
        self.dsn = f"clickhouse://{USER}:{PASSWORD}@127.0.0.1:{port}/fairclock"
        self.folder_dsn = f"chdb://{self.store_folder}"

    def behave(self, do, *, at="", times=1):
        """Let it do `do` for the next requests whose statement matches `at`."""
        (self.store_folder / MISBEHAVED).unlink(missing_ok=True)
        told = json.dumps({"do": do, "at": at, "times": times, "order": uuid.uuid4().hex})
        partial = self.store_folder / "behaviour.partial"
        partial.write_text(told)
        partial.replace(self.store_folder / BEHAVIOUR)

    @property
    def misbehaved(self):
        """Return how often it did so."""
        try:
            return len((self.store_folder / MISBEHAVED).read_text().splitlines())
        except FileNotFoundError:
            return 0

    def is_ready(self):
        try:
            return (self.store_folder / SERVING).read_text() == str(self.process.pid)
        except FileNotFoundError:
            return False

    def stop(self):
        self.process.communicate(timeout=PATIENCE_SECONDS)
        assert self.process.returncode == 0, self.said
