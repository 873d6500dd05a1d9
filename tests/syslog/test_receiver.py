"""Lines that arrive by syslog, over real sockets."""

import logging
import socket
import threading
from collections import Counter

import pytest

from collectors.gateway.syslog import SyslogReceiver
from collectors.gateway.syslog.backlog import Backlog
from collectors.gateway.syslog.streams import Framing, Loss, Received, Stream
from fairclock.errors import SpoolFull, UsageError
from tests.faults.processes import eventually
from tests.tailing.rig import EPOCH_US, line, rows_of

PATIENCE_SECONDS = 60


class Delivered:
    """Take frames, or refuse them while told to."""

    def __init__(self):
        self.frames = []
        self.changed = threading.Condition()
        self.refusing = None

    def __call__(self, frames):
        with self.changed:
            if self.refusing is not None:
                raise self.refusing
            self.frames += frames
            self.changed.notify_all()

    @property
    def rows(self):
        return Counter(row for frame in self.frames if frame.payload for row in rows_of([frame]))

    def wait_for(self, count):
        with self.changed:
            assert self.changed.wait_for(lambda: self.rows.total() >= count, PATIENCE_SECONDS), (
                self.rows.total()
            )


@pytest.fixture
def delivered():
    return Delivered()


@pytest.fixture
def receiver(delivered):
    with SyslogReceiver(
        delivered, source="gateway", udp="127.0.0.1:0", tcp="127.0.0.1:0", limit_bytes=100_000
    ) as receiver:
        yield receiver


def message(number, **more):
    return b"<190>Oct  7 12:00:00 gw nginx: " + line(number, **more)


def send_udp(receiver, *messages):
    address = receiver.udp_address
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for each in messages:
            sender.sendto(each, (address.host, address.port))


def connect(receiver):
    return socket.create_connection((receiver.tcp_address.host, receiver.tcp_address.port), PATIENCE_SECONDS)


def test_datagrams_become_lines(receiver, delivered):
    send_udp(receiver, message(1), message(2), message(2))
    delivered.wait_for(3)
    assert delivered.rows == {(line(1), 0): 1, (line(2), 0): 1, (line(2), 1): 1}
    assert {(frame.kind, frame.format, frame.source) for frame in delivered.frames} == {
        ("gateway", "nginx-json", "gateway")
    }
    assert len({frame.generation for frame in delivered.frames}) == 1


@pytest.mark.parametrize("frame", [lambda each: b"%d %s" % (len(each), each), lambda each: each + b"\n"])
def test_a_connection_becomes_lines(receiver, delivered, frame):
    with connect(receiver) as sender:
        sender.sendall(b"".join(frame(message(number)) for number in (1, 2, 2)))
        delivered.wait_for(3)
    assert delivered.rows == {(line(1), 0): 1, (line(2), 0): 1, (line(2), 1): 1}


def test_what_a_relay_sends_again_over_a_new_connection_adds_nothing(receiver, delivered):
    for _ in range(2):
        with connect(receiver) as sender:
            sender.sendall(b"".join(message(number) + b"\n" for number in (1, 1, 2)))
    delivered.wait_for(6)
    assert set(delivered.rows) == {(line(1), 0), (line(1), 1), (line(2), 0)}
    assert len({frame.generation for frame in delivered.frames}) == 2


def test_many_lines_are_few_frames(receiver, delivered):
    with connect(receiver) as sender:
        sender.sendall(b"".join(message(number) + b"\n" for number in range(5000)))
        delivered.wait_for(5000)
    assert len(delivered.frames) < 100
    assert max(len(frame.payload) for frame in delivered.frames) <= 256 << 10


def test_the_last_line_of_a_connection_needs_no_end(receiver, delivered):
    with connect(receiver) as sender:
        sender.sendall(message(1))
    delivered.wait_for(1)


def test_what_arrived_before_a_stop_is_delivered(delivered):
    receiver = SyslogReceiver(delivered, source="gateway", udp="127.0.0.1:0", tcp="127.0.0.1:0")
    send_udp(receiver, *map(message, range(50)))
    with connect(receiver) as sender:
        sender.sendall(b"".join(message(number) + b"\n" for number in range(50, 60)))
        receiver.start()
        delivered.wait_for(1)
        send_udp(receiver, *map(message, range(60, 100)))
        receiver.stop()
    assert set(delivered.rows) >= {(line(number), 0) for number in [*range(50), *range(60, 100)]}
    assert not receiver.is_alive


def test_a_stop_takes_all_datagrams_that_the_system_has(delivered, monkeypatch):
    monkeypatch.setattr("collectors.gateway.syslog.receiver._MOST_DATAGRAMS", 10)
    receiver = SyslogReceiver(delivered, source="gateway", udp="127.0.0.1:0")
    send_udp(receiver, *map(message, range(55)))
    receiver._stopping = True  # as where it is stopped before its first look
    receiver.start()
    receiver.stop()
    assert delivered.rows == {(line(number), 0): 1 for number in range(55)}


def test_a_pause_holds_connections_up_and_loses_nothing_of_them(receiver, delivered, caplog):
    caplog.set_level(logging.INFO)
    delivered.refusing = SpoolFull("spool", "is full")
    count = 30_000  # more than the backlog and the sockets' buffers hold
    with connect(receiver) as sender:
        sending = threading.Thread(
            target=lambda: sender.sendall(b"".join(message(number) + b"\n" for number in range(count)))
        )
        sending.start()
        eventually(lambda: receiver.statistics().paused and receiver._held_up, what=receiver.statistics)
        assert receiver.statistics().waiting_bytes < 100_000 + (256 << 10)
        delivered.refusing = None
        delivered.wait_for(count)
        sending.join()
    assert delivered.rows == {(line(number), 0): 1 for number in range(count)}
    assert receiver.statistics().lost == 0
    assert caplog.text.count("paused: spool: is full") == 1


def test_datagrams_that_find_no_room_are_counted(receiver, delivered, caplog):
    delivered.refusing = SpoolFull("spool", "is full")
    sent = 0

    def some_are_lost():
        nonlocal sent
        send_udp(receiver, *[message(sent + number) for number in range(100)])
        sent += 100
        return receiver.statistics().lost

    eventually(some_are_lost, what=receiver.statistics, every=0.001)
    delivered.refusing = None

    def all_is_told():
        nonlocal sent
        now = receiver.statistics()
        if now.waiting_bytes:
            return False
        if now.lines + now.lost == sent:
            return True
        send_udp(receiver, message(sent))  # the system says what it dropped with the next one that it takes
        sent += 1
        return False

    eventually(all_is_told, what=receiver.statistics)
    statistics = receiver.statistics()
    assert statistics.lines + statistics.lost == sent
    assert "datagrams are lost" in caplog.text


def test_another_error_of_a_delivery_is_a_failure(receiver, delivered):
    delivered.refusing = ZeroDivisionError("a bug")
    send_udp(receiver, message(1))
    eventually(lambda: receiver.failure is not None, what=receiver.statistics)
    assert isinstance(receiver.failure, ZeroDivisionError)
    assert not receiver.is_alive


@pytest.mark.parametrize("option", ["udp", "tcp"])
def test_an_occupied_port_is_one_sentence(receiver, delivered, option):
    taken = str(getattr(receiver, f"{option}_address"))
    with pytest.raises(
        UsageError, match=rf"--syslog-{option}: cannot listen on {taken} \(Address already in use\)"
    ):
        SyslogReceiver(delivered, source="gateway", **{option: taken})


def test_nothing_to_listen_on_is_refused(delivered):
    with pytest.raises(UsageError, match="nothing to listen on"):
        SyslogReceiver(delivered, source="gateway")


def test_many_connections_at_once(receiver, delivered):
    senders = [connect(receiver) for _ in range(40)]
    for number, sender in enumerate(senders):
        sender.sendall(message(number) + b"\n")
    delivered.wait_for(40)
    assert receiver.statistics().connections == 40
    for sender in senders:
        sender.close()
    eventually(lambda: not receiver.statistics().connections, what=receiver.statistics)


# Coverage, without sockets

NOW_US = EPOCH_US + 3_600_000_000


def covered(*steps):
    """Return what is covered, in tenths of a second, after (seconds listened, line numbers or a loss) each."""
    framing, stream, union = Framing(source="gateway", log_format="nginx-json"), Stream(), []
    for seconds, numbers in steps:
        received = (
            Loss()
            if numbers is None
            else Received(stream=stream, messages=[message(each) for each in numbers])
        )
        frames = framing.frames([received], now_us=NOW_US, monotonic_seconds=seconds)
        union += [frame.covered for frame in frames if frame.covered is not None]
    return [((start - EPOCH_US) // 100_000, (end - EPOCH_US) // 100_000) for start, end in union]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param([(0, [1, 5])], [(1, 5)], id="from line to line"),
        pytest.param([(0, [1]), (3600, [30_000])], [(1, 30_000)], id="silence that was listened to"),
        pytest.param(
            [(0, [1, 30_000])], [], id="a month that was not listened to is not covered by one old line"
        ),
        pytest.param([(0, [1, 2]), (1, None), (2, [8, 9])], [(1, 2), (8, 9)], id="what was lost is a gap"),
        pytest.param(
            [(0, [1]), (7000, None), (7001, [2]), (7002, [30_000])],
            [],
            id="listening begins anew after a loss",
        ),
        pytest.param([(0, [1, 2, 40_000 * 10])], [(1, 2)], id="a time that has not come is no time"),
        pytest.param(
            [(0, [1, 2, 30_000, 30_001])], [(1, 2), (30_000, 30_001)], id="two pieces are two frames"
        ),
    ],
)
def test_event_time_that_was_listened_to_is_covered(steps, expected):
    assert covered(*steps) == expected


def test_datagrams_among_which_some_are_missing_cover_nothing():
    framing = Framing(source="gateway", log_format="nginx-json")
    received = Received(stream=Stream(), messages=[message(1), message(5)], covers=False)
    frames = framing.frames([received], now_us=NOW_US, monotonic_seconds=0)
    assert [frame.covered for frame in frames] == [None]


def test_a_loss_is_noted_between_what_came_before_and_after(delivered):
    backlog = Backlog(
        delivered,
        Framing(source="gateway", log_format="nginx-json"),
        now_us=lambda: NOW_US,
        monotonic=lambda: 0.0,
        drained=lambda: None,
    )
    stream = Stream()
    backlog.add(stream, [message(1), message(2)])
    backlog.lose(3)
    backlog.add(stream, [message(8), message(9)])
    backlog.start()
    backlog.stop()
    assert [tuple((each - EPOCH_US) // 100_000 for each in frame.covered) for frame in delivered.frames] == [
        (1, 2),
        (8, 9),
    ]
    assert backlog.statistics(0).lost == 3
