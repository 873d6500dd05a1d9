"""NVML through the real binding, over a library that the test compiles."""

from __future__ import annotations

import pytest

import collectors.gpu.nvml.device as device_module
import collectors.gpu.nvml.source as source_module
import collectors.gpu.nvml.watching as watching_module
from collectors.gpu.devices import State
from collectors.gpu.nvml.source import NvmlSource

from .conftest import GPU_0, GPU_1, GPU_2, MIG_0, MIG_1, Ahead, Told, board, eventually, now_us

CALL_TIMEOUT_SECONDS = 600.0


@pytest.fixture
def clock():
    return Ahead()


@pytest.fixture
def start(nvml, standin, monkeypatch, clock):
    """Start reading the stand-in; what a test made hang is let go at the end."""
    monkeypatch.setattr(device_module, "_LOOK_FOR_LOST_SECONDS", 0.1)
    monkeypatch.setattr(source_module, "_TURN_SECONDS", 0.05)
    monkeypatch.setattr(watching_module, "_WAIT_MILLISECONDS", 20)
    started = []

    def start():
        told = Told(board())
        source = NvmlSource(
            nvml, told.board, host="node", samples_per_second=10, call_timeout=CALL_TIMEOUT_SECONDS,
            now_us=now_us, monotonic=clock, look_for_devices_seconds=0.1,
        )  # fmt: skip
        source.start()
        started.append(source)
        return source, told

    yield start
    for gpu in range(3):
        standin.standin_hang(gpu, 0)
    for source in started:
        source.stop()


def row_of(told, gpu, wanted=lambda row: row["samples"] > 0):
    return eventually(
        lambda: next((row for row in told.of(gpu) if wanted(row)), None), what=f"a row of {gpu}"
    )


@pytest.fixture
def hang(standin, clock):
    """Let the calls of GPU 1 hang, for longer than any may, and no other's."""

    def hang(told):
        standin.standin_hang(1, 1)
        eventually(lambda: standin.standin_hanging(1), what="a call that hangs")
        clock.seconds += 2 * CALL_TIMEOUT_SECONDS
        second = now_us() // 1_000_000
        # whose calls began after that
        row_of(told, GPU_0, lambda row: row["second"] > second + 1 and row["samples"])

    return hang


def states(source, told):
    source.watch()
    return {gpu.uuid: state for gpu, state in told.board.devices()}


def test_a_row_holds_what_the_driver_says_in_the_units_of_its_columns(start):
    _, told = start()
    row = row_of(told, GPU_1, lambda row: row["samples"] >= 2 and "pcie_width" in row)
    gib = 1 << 30
    assert {key: row[key] for key in row if not key.startswith(("second", "samples", "energy", "process"))} == {
        "gpu": GPU_1, "host": "node", "collector": "nvml", "index": 1, "name": "Stand-in 80GB",
        "bus": "00000000:02:00.0", "driver": "999.01", "state": "ok",
        "utilization_ratio_mean": 0.4, "utilization_ratio_min": 0.4, "utilization_ratio_max": 0.4,
        "memory_utilization_ratio_mean": 0.2, "memory_utilization_ratio_min": 0.2,
        "memory_utilization_ratio_max": 0.2,
        "memory_used_bytes_mean": 20 * gib, "memory_used_bytes_min": 20 * gib, "memory_used_bytes_max": 20 * gib,
        "memory_total_bytes": 80 * gib, "memory_reserved_bytes": gib // 2, "memory_free_bytes": 60 * gib - gib // 2,
        "power_milliwatts_mean": 300_000, "power_milliwatts_min": 300_000, "power_milliwatts_max": 300_000,
        "power_limit_milliwatts": 700_000,
        "temperature_celsius_mean": 55, "temperature_celsius_min": 55, "temperature_celsius_max": 55,
        "memory_temperature_celsius_mean": 61, "memory_temperature_celsius_min": 61,
        "memory_temperature_celsius_max": 61,
        "sm_clock_mhz_mean": 1980, "sm_clock_mhz_min": 1980, "sm_clock_mhz_max": 1980,
        "memory_clock_mhz_mean": 2619, "memory_clock_mhz_min": 2619, "memory_clock_mhz_max": 2619,
        "throttle_reasons": 0, "performance_state": 0, "pcie_generation": 5, "pcie_width": 16, "pcie_replays": 3,
        "pcie_sent_bytes_per_second": 1_000_000, "pcie_received_bytes_per_second": 2_000_000,
        "nvlinks_active": 3, "nvlinks_inactive": 1, "nvlink_crc_errors": 14, "nvlink_replay_errors": 7,
        "nvlink_recovery_errors": 7,
        "ecc_corrected_volatile": 0, "ecc_uncorrected_volatile": 0, "ecc_corrected_aggregate": 0,
        "ecc_uncorrected_aggregate": 0, "remapped_rows_corrected": 0, "remapped_rows_uncorrected": 0,
        "remapped_rows_pending": 0, "remapped_rows_failed": 0, "retired_pages_pending": 0,
        "missing": {
            "retired_pages_corrected": "not_supported", "retired_pages_uncorrected": "not_supported",
            "*": "not_offered",
        } | ({"energy_millijoules": "first_reading"} if "energy_millijoules" not in row else {}),
    }  # fmt: skip
    assert row["process_pids"] == [4711, 4712, 0]
    assert row["process_bytes"] == [1 << 30, None, 5]


def test_under_mig_utilization_is_missing_and_not_idle_and_each_instance_has_its_memory(start):
    _, told = start()
    whole = row_of(told, GPU_0)
    assert "utilization_ratio_mean" not in whole
    assert whole["missing"]["utilization_ratio"] == whole["missing"]["memory_utilization_ratio"] == "mig"
    for uuid, instance in ((MIG_0, 7), (MIG_1, 8)):
        row = row_of(told, uuid)
        assert row["parent"] == GPU_0
        assert (row["gpu_instance"], row["compute_instance"], row["profile"]) == (instance, 0, "1g.10gb")
        assert row["memory_total_bytes"] == 10 << 30
        assert row["missing"]["utilization_ratio"] == "mig"
        assert "utilization_ratio_mean" not in row


def test_sentinels_are_null_with_a_reason_and_cost_no_neighbour(start, standin):
    standin.standin_sentinels(1)
    _, told = start()
    row = row_of(told, GPU_1, lambda row: row["samples"] and "pcie_width" in row)
    hidden = (
        "utilization_ratio", "memory_utilization_ratio", "memory_used_bytes", "memory_reserved_bytes",
        "power_milliwatts", "energy_total_millijoules", "temperature_celsius", "performance_state", "pcie_replays",
    )  # fmt: skip
    assert {name: row["missing"].get(name) for name in hidden} == dict.fromkeys(hidden, "not_available")
    assert not [key for key in row if key.startswith(hidden)]
    assert row["sm_clock_mhz_mean"] == 1980
    assert "energy_millijoules" not in row


def test_what_this_user_may_not_see_says_so(start, standin):
    standin.standin_deny(1)
    _, told = start()
    row = row_of(told, GPU_1, lambda row: row["samples"] and "pcie_width" in row)
    assert row["missing"]["pcie_sent_bytes_per_second"] == "no_permission"


def test_a_gpu_that_falls_off_the_bus_is_shown_and_the_other_goes_on(start, standin):
    source, told = start()
    row_of(told, GPU_1)
    standin.standin_lose(1, 1)
    eventually(lambda: states(source, told)[GPU_1] is State.LOST, what="the loss")
    assert told.board.visible() == 1
    row = row_of(told, GPU_1, lambda row: row["state"] == "lost" and not row["samples"])
    assert row["missing"] == {"*": "lost"}
    eventually(lambda: told.kinds(GPU_1).count("lost") == 1, what="the loss as an event")
    after = row["second"]
    row_of(told, GPU_0, lambda row: row["second"] > after and row["state"] == "ok" and row["samples"])
    standin.standin_lose(1, 0)
    eventually(lambda: states(source, told)[GPU_1] is State.OK, what="the return")
    eventually(lambda: told.kinds(GPU_1).count("returned") == 1, what="the return as an event")
    row_of(told, GPU_1, lambda row: row["second"] > after and row["samples"])
    assert [kind for kind in told.kinds(GPU_1) if kind in {"lost", "returned"}] == ["lost", "returned"]


def test_the_same_xid_twice_is_two_events(start, standin):
    _, told = start()
    row_of(told, GPU_1)
    standin.standin_xid(1, 79)
    standin.standin_xid(1, 79)
    eventually(lambda: told.kinds(GPU_1).count("xid") == 2, what="the second XID")
    xids = [event for event in told.events if event["event"] == "xid"]
    assert [event["code"] for event in xids] == [79, 79]
    assert xids[0] != xids[1]


def test_a_call_that_hangs_holds_up_one_gpu_and_is_counted_once(start, standin, hang):
    source, told = start()
    row_of(told, GPU_1)
    hang(told)
    assert states(source, told)[GPU_1] is State.HUNG
    hung = row_of(told, GPU_1, lambda row: row["state"] == "hung" and not row["samples"])
    assert hung["missing"] == {"*": "hung"}
    row_of(told, GPU_0, lambda row: row["second"] > hung["second"] and row["samples"])
    assert (source.hung_calls, told.kinds(GPU_1).count("hung")) == (1, 1)
    standin.standin_hang(1, 0)
    eventually(lambda: states(source, told)[GPU_1] is State.OK, what="the return")
    row_of(told, GPU_1, lambda row: row["second"] > hung["second"] and row["samples"])


def test_a_source_stops_while_a_call_hangs(start, hang):
    source, told = start()
    row_of(told, GPU_1)
    hang(told)
    assert states(source, told)[GPU_1] is State.HUNG
    source.stop()
    eventually(lambda: not source.is_alive, what="the end")


def test_a_driver_that_is_loaded_anew_is_initialised_anew(start, standin):
    source, told = start()
    row_of(told, GPU_1)
    standin.standin_driver(0)
    eventually(lambda: "driver_away" in told.kinds(), what="the loss of the driver")
    assert "Driver Not Loaded" in eventually(source.problem)
    assert told.board.visible() == 0
    away = row_of(told, GPU_1, lambda row: row["state"] == "unreachable" and not row["samples"])
    assert away["missing"] == {"*": "unreachable"}
    standin.standin_driver(1)
    eventually(lambda: "driver_back" in told.kinds(), what="the driver")
    row_of(
        told, GPU_1, lambda row: row["second"] > away["second"] and row["state"] == "ok" and row["samples"]
    )
    eventually(lambda: source.problem() == "")
    assert source.driver_losses == 1


def test_a_driver_that_comes_later_is_waited_for(start, standin):
    standin.standin_driver(0)
    source, told = start()
    assert "modprobe" in eventually(source.problem)
    standin.standin_driver(1)
    row_of(told, GPU_1)


def test_a_gpu_that_is_plugged_in_later_is_read_and_one_that_is_taken_away_is_forgotten(start, standin):
    _, told = start()
    row_of(told, GPU_0)
    standin.standin_devices(3)
    row_of(told, GPU_2)
    standin.standin_devices(2)
    eventually(lambda: "removed" in told.kinds(GPU_2), what="the removal")
    assert {gpu.uuid for gpu, _ in told.board.devices()} == {GPU_0, GPU_1, MIG_0, MIG_1}


def test_a_gpu_that_is_taken_away_while_a_call_hangs_does_not_come_back_when_that_returns(start, standin):
    source, told = start()
    standin.standin_devices(3)
    row_of(told, GPU_2)
    worker = source._workers[GPU_2]
    standin.standin_hang(2, 1)
    eventually(lambda: standin.standin_hanging(2), what="a call that hangs")
    standin.standin_devices(2)
    eventually(lambda: "removed" in told.kinds(GPU_2), what="the removal")
    standin.standin_hang(2, 0)
    eventually(lambda: worker.join(0), what="the end of its thread")
    assert GPU_2 not in {gpu.uuid for gpu, _ in told.board.devices()}


def test_mig_instances_that_are_made_anew_at_runtime_are_noticed(start, standin):
    _, told = start()
    row_of(told, MIG_1)
    standin.standin_mig(1)
    eventually(lambda: "mig_changed" in told.kinds(GPU_0), what="the change")
    (event,) = [event for event in told.events if event["event"] == "mig_changed"]
    assert event["detail"] == "2 MIG instances before, 1 now"
    assert MIG_1 not in {gpu.uuid for gpu, _ in told.board.devices()}


def test_errors_that_grow_and_throttling_are_events(start, standin):
    _, told = start()
    # what it grows from
    row_of(told, GPU_1, lambda row: {"ecc_corrected_volatile", "remapped_rows_uncorrected"} <= row.keys())
    standin.standin_corrected(5)
    standin.standin_remapped(1)
    standin.standin_throttle((1 << 6) | 1)
    eventually(
        lambda: {"ecc_corrected", "rows_remapped", "throttle_began"} <= set(told.kinds(GPU_1)),
        what="the events",
    )
    by_kind = {event["event"]: event for event in told.events}
    assert (by_kind["ecc_corrected"]["count"], by_kind["ecc_corrected"]["detail"]) == (
        5,
        "ecc_corrected_volatile",
    )
    assert (by_kind["throttle_began"]["code"], by_kind["throttle_began"]["detail"]) == (
        64,
        "hardware thermal slowdown",
    )


def test_zero_visible_gpus_are_no_gpus(start, standin):
    standin.standin_devices(0)
    source, told = start()
    eventually(lambda: standin.standin_calls() > 5)
    assert told.board.visible() == 0
    assert source.problem() == ""
