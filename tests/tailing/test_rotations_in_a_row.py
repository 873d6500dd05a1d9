"""A log that is rotated and compressed faster than it is read, under a tail that is killed at any moment: no gap opens."""

import random

import pytest

from tests.tailing.rig import compress, lines

FIRST_TO_LAST = 600
LINES_A_FILE = 60


def rotate(log):
    """Rotate as logrotate does with compress and delaycompress."""
    rotated = log.rotate()
    older = rotated.with_name(f"{rotated.name[:-1]}2")
    if older.exists():
        compress(older)


def test_a_file_compressed_before_a_line_of_it_was_delivered_is_known_for_the_open_one(rig, log):
    rig.start().poll()
    log.write(lines(0))
    rig.poll()
    for number in (1, 2, 3):
        rotate(log)
        log.write(lines(number))
        rig.tail.poll(rig.now_us)  # one file a round: the others wait, open and unread
    rig.poll()
    assert rig.covered == [(0, 3)]
    assert len(rig.times_delivered) == rig.times_delivered.total() == 4


def test_a_file_that_was_empty_when_it_was_last_seen_does_not_break_the_chain(rig, log):
    rig.start().poll()
    log.write(lines(0))
    rig.poll()
    rotate(log)
    rig.wait(1).poll()  # the new file is known, and empty
    rig.kill()
    log.write(lines(1))
    rotate(log)
    log.write(lines(2))
    rotate(log)  # what was the empty file is a compressed one now
    log.write(lines(3))
    rig.start().settle()
    assert rig.covered == [(0, 3)]


@pytest.mark.parametrize("seed", range(40))
def test_kills_open_no_gap_wherever_they_fall(rig, log, seed):
    choose = random.Random(seed)
    rig.start()
    rig.tail.poll(rig.now_us)
    number = 0
    while number < FIRST_TO_LAST:
        rig.wait(choose.uniform(0.05, 0.4))
        chance = choose.random()
        if chance < 0.5:
            for _ in range(choose.randint(1, 30)):
                if number and number % LINES_A_FILE == 0:
                    rotate(log)
                    if rig.tail is not None and choose.random() < 0.3:
                        rig.tail.poll(rig.now_us)
                log.write(lines(number))
                number += 1
        elif rig.tail is None:
            rig.start()
        elif chance < 0.85:
            rig.tail.poll(rig.now_us)
        else:
            rig.kill()
    rig.poll()
    assert rig.covered == [(0, number - 1)]
    assert {line for line, _ in rig.rows} == set(lines(*range(number)).splitlines())
