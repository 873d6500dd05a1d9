"""A log that is written and rotated as nginx and logrotate do, a tail on it, and what an import would read."""

import gzip
import os
import shutil
import time
from collections import Counter

from collectors.gateway.occurrences import Occurrences
from collectors.gateway.tailing import Tailer
from collectors.lines import LineSplitter
from fairclock.errors import SpoolFull

EPOCH_US = 1_795_980_364_000_000


def line(number, *, at_us=None, **more):
    """Return one request's line as the shipped format writes it, a tenth of a second after the one before."""
    at_us = EPOCH_US + number * 100_000 if at_us is None else at_us
    extra = "".join(f',"{key}":"{value}"' for key, value in more.items())
    return (
        f'{{"time":"{at_us // 1_000_000}.{at_us // 1000 % 1000:03d}","request_id":"{number:032x}"'
        f',"status":"200","request_time":"0.100"{extra}}}'
    ).encode()


def lines(*numbers):
    """Return the lines of `numbers`, each ended."""
    return b"".join(line(number) + b"\n" for number in numbers)


def imported(*contents):
    """Return what importing files of `contents` stores: (line, k) of each."""
    rows = set()
    for content in contents:
        splitter = LineSplitter()
        first, again = Occurrences().split(splitter.feed(content) + splitter.finish())
        rows |= {(each, 0) for each in first} | {(each, k) for k, some in again.items() for each in some}
    return rows


def rows_of(frames):
    """Return (line, k) of each line in `frames`, in order."""
    rows = []
    for frame in frames:
        assert frame.payload.endswith(b"\n")
        numbers = dict(frame.repeats)
        assert all(k > 0 for k in numbers.values())
        rows += [(each, numbers.get(at, 0)) for at, each in enumerate(frame.payload[:-1].split(b"\n"))]
    return rows


class Written:
    """A log as nginx writes it: through a descriptor that is kept until `reopen`."""

    def __init__(self, path, *, mode=os.O_APPEND):
        self.path = path
        self.mode = mode
        self.descriptor = None
        self.reopen()

    def reopen(self):
        if self.descriptor is not None:
            os.close(self.descriptor)
        self.descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | self.mode, 0o644)

    def write(self, data):
        assert os.write(self.descriptor, data) == len(data)

    def rename(self, *, to=None):
        """Shift access.log.1 to .2 and so on, as logrotate does, and rename the log; nginx has not noticed yet."""
        target = self.path.with_name(f"{self.path.name}.1") if to is None else to
        shift(target)
        self.path.rename(target)
        return target

    def rotate(self):
        target = self.rename()
        self.reopen()
        return target

    def copy(self):
        target = self.path.with_name(f"{self.path.name}.1")
        shift(target)
        shutil.copyfile(self.path, target)
        return target

    def truncate(self):
        os.truncate(self.path, 0)


def shift(target):
    """Make room for `target` (….1) by moving what is there, plain or compressed, one number up."""
    stem, _, number = target.name.rpartition(".")
    for suffix in ("", ".gz"):
        taken = target.with_name(target.name + suffix)
        if taken.exists():
            above = target.with_name(f"{stem}.{int(number) + 1}")
            shift(above)
            taken.rename(above.with_name(above.name + suffix))


def compress(path):
    """Do what gzip does: write beside, keep the time of the last change, remove the original."""
    target = path.with_name(path.name + ".gz")
    status = path.stat()
    target.write_bytes(gzip.compress(path.read_bytes(), 1))
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    path.unlink()
    return target


class Rig:
    """A tail that can be stopped and killed, on a clock of its own."""

    def __init__(self, tmp_path, *patterns):
        self.folder = tmp_path / "logs"
        self.folder.mkdir()
        self.path = self.folder / "access.log"
        self.patterns = patterns or (str(self.path),)
        self.checkpoints = tmp_path / "checkpoints"
        self.frames = []
        self.refusing = None
        self.now_us = time.time_ns() // 1000
        self.tail = None

    def deliver(self, frames):
        if self.refusing is not None:
            raise self.refusing
        self.frames += frames

    def start(self):
        self.tail = Tailer(
            [str(pattern) for pattern in self.patterns],
            source="gateway",
            checkpoint_directory=self.checkpoints,
            deliver=self.deliver,
        )
        return self

    def stop(self):
        self.tail.close()
        self.tail = None

    def kill(self):
        """End the tail as SIGKILL does: nothing more is written, the system closes its files."""
        for log in self.tail._logs.values():
            log.close()
        self.tail._checkpoint.close()
        self.tail = None

    def restart(self):
        self.stop()
        return self.start()

    def poll(self, *, rounds=100):
        """Poll until nothing more comes."""
        if self.tail is None:
            self.start()
        for _ in range(rounds):
            delivered = self.tail.poll(self.now_us)
            self.wait(0.2)
            if not delivered:
                return self
        raise AssertionError("the tail never comes to an end")

    def wait(self, seconds):
        self.now_us += int(seconds * 1_000_000)
        return self

    def settle(self):
        """Let more time pass than the tail ever waits for."""
        for _ in range(12):
            self.poll().wait(130)
        return self.poll()

    def refuse(self):
        self.refusing = SpoolFull("spool", "is full")

    @property
    def rows(self):
        return set(rows_of(self.frames))

    @property
    def times_delivered(self):
        return Counter(rows_of(self.frames))

    @property
    def covered(self):
        """Return the union of what the frames cover, as intervals in tenths of a second since the first line."""
        union = []
        for begin, end in sorted(frame.covered for frame in self.frames if frame.covered is not None):
            if union and begin <= union[-1][1]:
                union[-1][1] = max(union[-1][1], end)
            else:
                union.append([begin, end])
        return [((begin - EPOCH_US) / 100_000, (end - EPOCH_US) / 100_000) for begin, end in union]
