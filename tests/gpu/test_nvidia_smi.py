"""Streams of nvidia-smi: headers, units, what cells say that hold no number, the program itself."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.gpu.devices import State
from collectors.gpu.fields import FIELDS
from collectors.gpu.nvidia_smi.columns import COLUMNS
from collectors.gpu.nvidia_smi.rows import Look, SmiStream, Unreadable
from collectors.gpu.nvidia_smi.source import NvidiaSmiSource

from .conftest import Ahead, Told, board, eventually, now_us

HEADER = (
    "timestamp, index, uuid, name, pci.bus_id, driver_version, mig.mode.current, utilization.gpu [%], "
    "memory.used [MiB], power.draw [W], clocks_throttle_reasons.active, pstate"
)
ROW = (
    "2026/10/07 03:00:00.250, 0, GPU-a, NVIDIA H100, 00000000:01:00.0, 550.54, Disabled, 45 %, 1024 MiB, 212.37 W, "
    "0x0000000000000004, P0"
)


def stream(**changes):
    return SmiStream(**{"host": "node", "zone": UTC, **changes})


def look(row=ROW, header=HEADER, **changes):
    reading = stream(**changes)
    assert reading.read(header) is None
    return reading.read(row)


@pytest.mark.parametrize(
    "row", [ROW, ROW.replace(" %", "").replace(" MiB", "").replace(" W", "")], ids=["with units", "nounits"]
)
def test_a_row_is_read_in_the_units_of_the_fields(row):
    said = look(row)
    assert said.readings.values == {
        "utilization_ratio": 0.45, "memory_used_bytes": 1 << 30, "power_milliwatts": 212_370,
        "throttle_reasons": 4, "performance_state": 0,
    }  # fmt: skip
    assert (said.gpu.uuid, said.gpu.index, said.gpu.bus, said.gpu.driver) == (
        "GPU-a", 0, "00000000:01:00.0", "550.54",
    )  # fmt: skip
    assert said.at_us == int(datetime(2026, 10, 7, 3, 0, 0, 250_000, tzinfo=UTC).timestamp() * 1e6)


def test_times_are_of_the_zone_that_is_named():
    assert look(zone=ZoneInfo("Asia/Shanghai")).at_us == look().at_us - 8 * 3600 * 1_000_000


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("[N/A]", "not_available"),
        ("N/A", "not_available"),
        ("[Not Supported]", "not_supported"),
        ("[Unknown Error]", "failed"),
        ("[Insufficient Permissions]", "no_permission"),
        ("[GPU requires reset]", "lost"),
        ("ERR!", "failed"),
        ("", "not_available"),
        ("x", "failed"),
        ("12 parsecs", "failed"),
        ("1e999 W", "not_available"),
        ("-5 W", "implausible"),
        ("18446744073709551615", "not_available"),
    ],
)
def test_a_cell_without_a_number_is_null_with_a_reason_and_costs_no_neighbour(cell, reason):
    said = look(ROW.replace("212.37 W", cell))
    assert said.readings.missing == {"power_milliwatts": reason}
    assert said.readings.values["utilization_ratio"] == 0.45


def test_utilization_that_mig_hides_is_not_idleness():
    said = look(ROW.replace("45 %", "[N/A]").replace("Disabled", "Enabled"))
    assert said.readings.missing == {"utilization_ratio": "mig"}


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        pytest.param([ROW], "no header names the columns", id="no header"),
        pytest.param([HEADER, ROW + ", 1"], "13 cells under 12 columns", id="a cell too many"),
        pytest.param([HEADER, "2026/10/07 03:00:0"], "1 cells under 12 columns", id="cut in the middle"),
        pytest.param([HEADER, ROW.replace("2026/10/07", "07.10.2026")], "no timestamp that can be read", id="time"),
        pytest.param([HEADER, ROW.replace("2026/10/07 03", "2026/10/07 33")], "no timestamp that can be read", id="hour 33"),
        pytest.param(
            ["timestamp, utilization.gpu [%]", "2026/10/07 03:00:00.250, 4 %"],
            "no uuid, pci.bus_id or index tells which GPU it is",
            id="whose",
        ),
        pytest.param([HEADER, "No devices were found"], "a message of the program", id="no devices"),
        pytest.param(
            [HEADER, "Unable to determine the device handle for GPU0000:01:00.0: GPU is lost.  Reboot the system"],
            "a message of the program",
            id="lost",
        ),
    ],
)  # fmt: skip
def test_what_is_no_row_says_why(lines, reason):
    reading = stream()
    said = [reading.read(line) for line in lines][-1]
    assert isinstance(said, Unreadable)
    assert said.reason == reason


def test_a_header_in_the_middle_names_the_columns_anew():
    reading = stream()
    reading.read(HEADER)
    assert reading.read("uuid, timestamp, temperature.gpu") is None
    said = reading.read("GPU-b, 2026/10/07 03:00:01, 61")
    assert (said.gpu.uuid, said.readings.values) == ("GPU-b", {"temperature_celsius": 61})


def test_every_column_is_a_field():
    assert {field for field, _ in COLUMNS.values()} <= set(FIELDS)


@given(st.text(max_size=300))
def test_no_line_breaks_the_reading(line):
    reading = stream()
    reading.read(HEADER)
    said = reading.read(line)
    assert said is None or isinstance(said, (Look, Unreadable))


@given(
    st.lists(
        st.one_of(st.text(max_size=20), st.floats().map(str), st.integers().map(str)),
        min_size=12,
        max_size=12,
    )
)
def test_no_cell_breaks_its_row_and_what_is_kept_can_be(cells):
    said = look(",".join(cell.replace(",", "") for cell in cells))
    if isinstance(said, Look):
        for name, value in said.readings.values.items():
            assert FIELDS[name].least <= value <= FIELDS[name].most


@given(st.integers(0, 100), st.integers(0, 1 << 20), st.integers(0, 1_000_000))
def test_what_is_written_comes_back(percent, mib, centiwatts):
    row = ROW.replace("45 %", f"{percent} %").replace("1024 MiB", f"{mib} MiB")
    values = look(row.replace("212.37", f"{centiwatts // 100}.{centiwatts % 100:02}")).readings.values
    assert values["utilization_ratio"] == pytest.approx(percent / 100)
    assert values["memory_used_bytes"] == mib << 20
    assert values["power_milliwatts"] == centiwatts * 10


@pytest.fixture
def run(tmp_path):
    """Run a program in the place of nvidia-smi."""
    started = []

    def run(script: str, call_timeout=0.4, clock=None):
        program = tmp_path / "smi"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o700)
        told = Told(board(collector="nvidia-smi"))
        source = NvidiaSmiSource(
            told.board, command=str(program), host="node", samples_per_second=10, call_timeout=call_timeout,
            now_us=now_us, monotonic=clock or Ahead(), rest_seconds=0.1,
        )  # fmt: skip
        source.start()
        started.append(source)
        return source, told

    yield run
    for source in started:
        source.stop()


def test_the_programs_lines_become_rows(run):
    source, told = run(f"echo '{HEADER}'; while sleep 0.02; do echo '{ROW}'; done")
    row = eventually(lambda: next((row for row in told.of("GPU-a") if row["samples"] > 1), None))
    assert (row["collector"], row["utilization_ratio_mean"]) == ("nvidia-smi", 0.45)
    assert source.problem() == ""


def test_a_program_that_hangs_is_ended_and_run_again(run):
    source, told = run(f"echo '{HEADER}'; echo '{ROW}'; exec sleep 60")
    eventually(lambda: source.watch() or source.hung_calls >= 2, what="the second hang")
    assert "hung" in told.kinds()


def test_a_program_that_ends_is_said_to_and_run_again(run, tmp_path):
    source, told = run(f"echo '{HEADER}'; echo '{ROW}'; echo x >> {tmp_path}/runs")
    eventually(lambda: (tmp_path / "runs").exists() and (tmp_path / "runs").read_text().count("x") >= 2)
    eventually(lambda: "driver_away" in told.kinds())
    assert source.is_alive


def test_a_column_that_the_driver_does_not_know_is_asked_for_no_more(run):
    refuses = 'Field "memory.reserved" is not a valid field to query.'
    _, told = run(
        f"case $1 in *memory.reserved*) echo '{refuses}'; exit 2;; esac\n"
        f"echo '{HEADER}'; while sleep 0.02; do echo '{ROW}'; done"
    )
    eventually(lambda: told.of("GPU-a"))


def test_no_such_program_is_a_problem_and_no_end(run):
    _, told = run("exit 0")
    missing = NvidiaSmiSource(
        told.board, command="/nowhere/nvidia-smi", host="node", samples_per_second=1, call_timeout=1,
        now_us=now_us, monotonic=Ahead(), rest_seconds=0.1,
    )  # fmt: skip
    missing.start()
    assert "cannot be run" in eventually(missing.problem)
    missing.stop()
    assert told.board.visible() == 0


def test_a_gpu_that_is_left_out_is_lost(run, tmp_path):
    other, clock = ROW.replace("GPU-a", "GPU-b").replace("01:00.0", "02:00.0"), Ahead()
    (tmp_path / "both").touch()
    source, told = run(
        f"echo '{HEADER}'; while sleep 0.02; do echo '{ROW}'; [ -e {tmp_path}/both ] && echo '{other}'; done",
        call_timeout=60.0,
        clock=clock,
    )

    def next_look():
        heard = source._heard["GPU-a"]
        eventually(lambda: source._heard["GPU-a"] != heard)

    eventually(lambda: told.board.visible() == 2)
    (tmp_path / "both").unlink()
    for _ in range(3):  # what the program was about to print is read by then
        next_look()
    clock.seconds += 3_600.0
    next_look()
    source.watch()
    assert {gpu.uuid: state for gpu, state in told.board.devices()}["GPU-b"] is State.LOST
    assert told.board.visible() == 1
    assert told.kinds("GPU-b").count("lost") == 1
