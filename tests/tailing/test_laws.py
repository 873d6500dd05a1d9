"""The law of the tail: what was written and not destroyed arrives, each row as an import would store it.

A row is a line and k. Lines that were destroyed before anybody could read them are excused; nothing may arrive
that no import of any file would have stored.
"""

import gzip
import os
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.tailing.rig import Rig, Written, compress, imported, line


class RotatedLog(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.rig = Rig(Path(self.folder.name))
        self.log = Written(self.rig.path)
        self.written = [b""]  # of each generation, all that was ever written to it
        self.readable = set()  # what an import of any file at any time would have stored
        self.excused = set()
        self.only_in_hand = set()  # what lies in deleted files that the tail still has open
        self.number = 0

    def teardown(self):
        try:
            self.everything_arrives()
        finally:
            if self.rig.tail is not None:
                self.rig.stop()
            os.close(self.log.descriptor)
            self.folder.cleanup()

    # What the gateway does

    @initialize(is_there=st.booleans())
    def begin(self, is_there):
        if not is_there:
            self.rig.path.unlink()
        self.rig.start().poll()
        self.log.reopen()

    def write(self, data):
        self.log.write(data)
        self.written[-1] += data

    def fresh(self):
        self.number += 1
        return line(self.number) + b"\n"

    @rule(again=st.lists(st.integers(0, 30), max_size=4), cut=st.one_of(st.none(), st.integers(1, 90)))
    def write_lines(self, again, cut):
        """Write a new line, some that came before, and perhaps the beginning of another."""
        repeats = b"".join(line(1 + number % self.number) + b"\n" for number in again) if self.number else b""
        self.write(self.fresh() + repeats + (b"" if cut is None else self.fresh()[:cut]))

    @rule()
    def end_the_line(self):
        if not self.written[-1].endswith(b"\n"):
            self.write(b"rest of a line\n")

    @rule()
    def write_nuls(self):
        self.write(b"\0" * 20)

    @rule()
    def reopen(self):
        self.log.reopen()
        if self.rig.path.stat().st_size == 0 and self.written[-1]:
            self.written.append(b"")

    # What rotation does

    def is_being_written(self, path):
        return os.path.samestat(os.fstat(self.log.descriptor), path.stat())

    @precondition(lambda self: self.rig.path.exists() and self.is_being_written(self.rig.path))
    @rule(slow=st.booleans())
    def rename(self, slow):
        self.log.rename()
        if not slow:
            self.reopen()

    @precondition(lambda self: self.rig.path.exists() and self.is_being_written(self.rig.path))
    @rule(copied=st.booleans(), between=st.booleans(), looked=st.booleans())
    def truncate(self, copied, between, looked):
        copy = b""
        if copied:
            copy = self.log.copy().read_bytes()
            self.readable |= imported(copy)
        if between:
            self.write(self.fresh())
        if looked:
            self.poll()
        self.excused |= imported(self.written[-1]) - imported(copy) - self.rig.rows
        self.log.truncate()
        self.written.append(b"")

    def rotated(self):
        return sorted(
            each
            for each in self.rig.folder.iterdir()
            if each != self.rig.path and not self.is_being_written(each)
        )

    @precondition(lambda self: any(each.suffix != ".gz" for each in self.rotated()))
    @rule(data=st.data())
    def squeeze(self, data):
        compress(data.draw(st.sampled_from([each for each in self.rotated() if each.suffix != ".gz"])))

    @precondition(lambda self: self.rotated())
    @rule(data=st.data())
    def delete(self, data):
        path = data.draw(st.sampled_from(self.rotated()))
        held = self.rig.tail is not None and self.rig.tail._is_held(path.stat())
        content = path.read_bytes()
        rows = imported(gzip.decompress(content) if path.suffix == ".gz" else content) - self.rig.rows
        if held:
            self.only_in_hand |= rows
        else:
            self.excused |= rows
        path.unlink()

    # What happens to the tail

    @rule()
    def poll(self):
        if self.rig.tail is not None:
            self.rig.poll()

    @rule()
    def look_once(self):
        if self.rig.tail is not None:
            self.rig.tail.poll(self.rig.wait(0.1).now_us)

    @precondition(lambda self: self.rig.tail is not None)
    @rule()
    def stop(self):
        self.rig.stop()
        self.excused |= self.only_in_hand - self.rig.rows

    @precondition(lambda self: self.rig.tail is not None)
    @rule()
    def kill(self):
        self.rig.kill()
        self.excused |= self.only_in_hand - self.rig.rows

    @precondition(lambda self: self.rig.tail is None)
    @rule()
    def start(self):
        self.rig.start()

    @rule()
    def refuse(self):
        self.rig.refuse()

    @rule()
    def take_again(self):
        self.rig.refusing = None

    @rule(seconds=st.integers(1, 6))
    def wait(self, seconds):
        self.rig.wait(seconds)

    # The law

    @invariant()
    def nothing_arrives_that_was_not_written(self):
        possible = self.readable.union(*map(imported, self.written))
        assert self.rig.rows <= possible, self.rig.rows - possible

    def everything_arrives(self):
        self.rig.refusing = None
        self.rig.settle()
        self.nothing_arrives_that_was_not_written()
        whole = set().union(*(imported(content[: content.rfind(b"\n") + 1]) for content in self.written))
        missing = whole - self.rig.rows - self.excused
        assert not missing, missing


TestRotatedLog = RotatedLog.TestCase
TestRotatedLog.settings = settings(stateful_step_count=40)
