"""A gateway that writes its log, and vLLM that sends its spans until they are taken; both go as far as they may."""

from __future__ import annotations

import random
import threading

import httpx

from tests.faults import traffic
from tests.tailing.rig import Written, compress

LONGEST_PAUSE_SECONDS = 0.05


class Feeder(threading.Thread):
    """Deal with the requests from 0 to what `allow` says, in its own time."""

    def __init__(self, *, seed):
        super().__init__(daemon=True)
        self.random = random.Random(seed)
        self.changed = threading.Condition()
        self.allowed = self.done = 0
        self.ended = False
        self.failure = None

    def allow(self, number):
        with self.changed:
            self.allowed = number
            self.changed.notify_all()

    def finish(self):
        """End once everything that is allowed is done."""
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def run(self):
        try:
            pause = threading.Event()
            while (end := self._next()) is not None:
                self.feed(self.done, end)
                self.done = end
                pause.wait(self.random.uniform(0, LONGEST_PAUSE_SECONDS))
        except BaseException as failure:
            self.failure = failure
            raise

    def _next(self):
        with self.changed:
            self.changed.wait_for(lambda: self.allowed > self.done or self.ended)
            left = self.allowed - self.done
        return min(self.done + self.random.randint(1, self.most()), self.done + left) if left else None


class Gateway(Feeder):
    """Append lines in pieces that end anywhere, and rotate the log now and then."""

    def __init__(self, path, *, seed, lines_a_file, most=40):
        super().__init__(seed=seed)
        self.log = Written(path)
        self.lines_a_file = lines_a_file
        self.largest = most
        self.rotations = 0

    def most(self):
        return self.largest

    def feed(self, start, end):
        for number in range(start, end):
            if number and number % self.lines_a_file == 0:
                self.rotate()
            data = traffic.line(number) + b"\n"
            at = self.random.randint(0, len(data)) if self.random.random() < 0.1 else 0
            for piece in (data[:at], data[at:]):
                if piece:
                    self.log.write(piece)

    def rotate(self):
        rotated = self.log.rotate()
        self.rotations += 1
        older = rotated.with_name("access.log.2")
        if older.exists():
            compress(older)


class Engine(Feeder):
    """Post spans and, like the OpenTelemetry SDK, post them again until they are taken."""

    def __init__(self, url, *, seed, most=40, pause_seconds=0.1):
        super().__init__(seed=seed)
        self.url = url
        self.largest = most
        self.pause_seconds = pause_seconds
        self.tries = 0
        self.answers = set()

    def most(self):
        return self.largest

    def feed(self, start, end):
        content = traffic.body(range(start, end))
        waiting = threading.Event()
        with httpx.Client(timeout=20) as client:
            while not self._is_taken(client, content):
                waiting.wait(self.pause_seconds)

    def _is_taken(self, client, content):
        self.tries += 1
        try:
            answer = client.post(
                self.url, content=content, headers={"Content-Type": "application/x-protobuf"}
            )
        except httpx.TransportError:
            return False
        self.answers.add(answer.status_code)
        assert answer.status_code in {200, 429, 502, 503, 504}, answer.text  # others are not sent again
        return answer.status_code == 200
