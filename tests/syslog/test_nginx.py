"""A real nginx writes its log to a file that is rotated by USR1, and to us by syslog, request by request."""

import contextlib
import gzip
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import httpx
import pytest

from collectors.gateway.nginx import copy_snippet
from collectors.gateway.syslog import SyslogReceiver
from collectors.gateway.tailing import Tailer
from fairclock.demo.live.programs import find_nginx, free_port
from tests.syslog.test_receiver import Delivered
from tests.tailing.rig import compress, imported, shift

pytestmark = pytest.mark.integration
PATIENCE_SECONDS = 120


class Nginx:
    """nginx with the shipped log format, logging to `access.log` and to a syslog server."""

    def __init__(self, folder, *, syslog):
        copy_snippet(folder)
        self.folder, self.port, self.log = folder, free_port(), folder / "access.log"
        # Workers of another user could not reopen a log in a folder that is only ours.
        user = "user root root;" if os.geteuid() == 0 else ""
        (folder / "nginx.conf").write_text(
            f"{user} pid {folder}/pid; error_log {folder}/error.log; daemon off; worker_processes 2;"
            f"events {{}} http {{ include fairclock/fairclock.conf;"
            f"client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;"
            f"uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;"
            f"server {{ listen 127.0.0.1:{self.port}; access_log {self.log} fairclock buffer=4k flush=100ms;"
            f"access_log syslog:server={syslog},tag=nginx,severity=info fairclock; return 200; }} }}"
        )
        self.process = subprocess.Popen(
            [find_nginx(), "-p", str(folder), "-c", f"{folder}/nginx.conf"],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=PATIENCE_SECONDS)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            with contextlib.suppress(httpx.ConnectError):
                self.client.get("/ready")
                return
            assert self.process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def ask(self, number):
        self.client.get(f"/v1/{number}")

    def lines_written(self):
        return sum(map(bytes.count, self.contents(), [b"\n"] * 100))

    def contents(self):
        logs = [path for path in self.folder.iterdir() if path.name.startswith("access.log")]
        return [
            gzip.decompress(each.read_bytes()) if each.suffix == ".gz" else each.read_bytes() for each in logs
        ]

    def wait_until(self, is_so):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def is_written_to(self, path):
        """Return whether nginx or a worker of it has the file open: each reopens its log when it comes to it."""
        held, pid = path.stat(), self.process.pid
        for process in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:  # it has ended
                continue
            if pid in {int(process.name), parent}:
                try:
                    if any(os.path.samestat(each.stat(), held) for each in (process / "fd").iterdir()):
                        return True
                except OSError:  # it closed something meanwhile
                    return True
        return False

    def rename(self):
        """Do what logrotate does first: compress the older log, which nobody writes to any more, and shift."""
        rotated = self.log.with_name("access.log.1")
        if rotated.exists():
            self.wait_until(lambda: not self.is_written_to(rotated))
            compress(rotated)
        shift(rotated)
        self.log.rename(rotated)

    def reopen(self):
        os.kill(self.process.pid, signal.SIGUSR1)
        self.wait_until(self.log.exists)

    def stop(self):
        self.client.close()
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(PATIENCE_SECONDS)


def test_each_request_arrives_once_by_file_and_once_by_syslog(tmp_path):
    by_syslog, by_file = Delivered(), Delivered()
    folder = tmp_path / "nginx"
    folder.mkdir()
    with (
        SyslogReceiver(by_syslog, source="gateway", udp="127.0.0.1:0") as receiver,
        Tailer(
            [str(folder / "access.log")],
            source="gateway",
            checkpoint_directory=tmp_path / "tails",
            deliver=by_file,
        ) as tail,
    ):
        stop = threading.Event()
        following = threading.Thread(
            target=tail.run, args=(stop,), kwargs={"now_us": lambda: time.time_ns() // 1000}
        )
        following.start()
        nginx = Nginx(folder, syslog=receiver.udp_address)
        try:
            asked = 1
            for _ in range(4):
                for step in range(150):
                    if step == 50:
                        nginx.rename()
                    if step == 100:
                        nginx.reopen()
                    nginx.ask(asked)
                    asked += 1
                nginx.wait_until(lambda count=asked: nginx.lines_written() == count)
        finally:
            nginx.stop()
        by_syslog.wait_for(asked)
        by_file.wait_for(asked)
        stop.set()
        following.join()
        assert receiver.statistics().lost == 0
    assert by_file.rows == by_syslog.rows
    assert set(by_file.rows.values()) == {1}
    paths = sorted(json.loads(line)["uri"] for line, k in by_file.rows if k == 0)
    assert paths == sorted(["/ready", *(f"/v1/{number}" for number in range(1, asked))])
    contents = nginx.contents()
    assert len(contents) == 5
    assert set(by_file.rows) == imported(*contents)
