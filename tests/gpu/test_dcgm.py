"""Scrapes of a DCGM exporter: families, blanks, MIG instances, and what its gauge of XIDs can tell."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.gpu.dcgm.families import FAMILIES
from collectors.gpu.dcgm.scrapes import read_scrape
from collectors.gpu.dcgm.source import DcgmSource
from collectors.gpu.dcgm.xids import XidGauges
from collectors.gpu.devices import Gpu
from collectors.gpu.fields import FIELDS

from .conftest import Told, board, eventually, now_us

LABELS = 'gpu="0",UUID="GPU-a",pci_bus_id="00000000:01:00.0",device="nvidia0",modelName="NVIDIA H100 80GB",Hostname="node-7",DCGM_FI_DRIVER_VERSION="550.54"'
INSTANCE = LABELS + ',GPU_I_PROFILE="1g.10gb",GPU_I_ID="7"'


def scraped(*lines):
    return read_scrape("".join(f"{line}\n" for line in lines).encode(), host="here")


def series(name, value, labels=LABELS):
    return f"DCGM_FI_{name}{{{labels}}} {value}"


def values(*lines, gpu="GPU-a"):
    return scraped(*lines).devices[gpu].readings


def test_families_become_fields_in_their_units():
    readings = values(
        "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).",
        "# TYPE DCGM_FI_DEV_GPU_UTIL gauge",
        series("DEV_GPU_UTIL", 45),
        series("DEV_FB_USED", 1024),
        series("DEV_POWER_USAGE", 212.37),
        series("DEV_TOTAL_ENERGY_CONSUMPTION", 123456789012),
        series("DEV_CLOCK_THROTTLE_REASONS", 4),
        series("PROF_GR_ENGINE_ACTIVE", 0.375),
        series("PROF_PCIE_TX_BYTES", 1e9),
        series("DEV_SOMETHING_ELSE", 1),
        'vllm:num_requests_running{model_name="m"} 3',
    )
    assert readings.values == {
        "utilization_ratio": 0.45, "memory_used_bytes": 1 << 30, "power_milliwatts": 212_370,
        "energy_total_millijoules": 123456789012, "throttle_reasons": 4, "engine_active_ratio": 0.375,
        "pcie_sent_bytes_per_second": 10**9,
    }  # fmt: skip
    assert readings.missing == {}


def test_a_device_is_known_by_its_labels():
    (device,) = scraped(series("DEV_GPU_TEMP", 55)).devices.values()
    assert device.gpu == Gpu(
        uuid="GPU-a", host="node-7", index=0, name="NVIDIA H100 80GB", bus="00000000:01:00.0", driver="550.54"
    )


def test_a_mig_instance_is_a_device_of_its_own_and_its_utilization_is_not_idleness():
    scrape = scraped(series("DEV_FB_USED", 10), series("DEV_FB_USED", 20, INSTANCE))
    instance = scrape.devices["GPU-a/7"]
    assert (instance.gpu.parent, instance.gpu.gpu_instance, instance.gpu.profile) == ("GPU-a", 7, "1g.10gb")
    assert instance.readings.values == {"memory_used_bytes": 20 << 20}
    assert instance.readings.missing == {"utilization_ratio": "mig"}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("2147483632", "not_available"),
        ("2147483634", "not_supported"),
        ("2147483635", "no_permission"),
        ("9223372036854775792", "not_available"),
        ("9223372036854775794", "not_supported"),
        ("9223372036854775795", "no_permission"),
        ("9.223372036854776e+18", "not_available"),
        ("1.8446744073709552e+19", "not_available"),
        ("1.40737488355328e+14", "not_available"),
        ("140737488355330", "not_supported"),
        ("NaN", "not_available"),
        ("+Inf", "not_available"),
        ("-1", "implausible"),
    ],
)
@pytest.mark.parametrize("name", ["DEV_GPU_UTIL", "DEV_POWER_USAGE", "DEV_FB_USED", "DEV_ECC_DBE_VOL_TOTAL"])
def test_a_blank_is_null_with_a_reason_and_costs_no_neighbour(name, value, reason):
    readings = values(series(name, value), series("DEV_SM_CLOCK", 1980))
    assert readings.missing == {FAMILIES[f"DCGM_FI_{name}"].field: reason}
    assert readings.values == {"sm_clock_mhz": 1980}


@pytest.mark.parametrize(
    "line",
    [
        'DCGM_FI_DEV_GPU_TEMP{gpu="0" 5',
        "DCGM_FI_DEV_GPU_TEMP{" + LABELS + "} hot",
        "}{",
        'DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-a} 5',
    ],
)
def test_a_bad_line_costs_no_other(line):
    scrape = scraped(series("DEV_SM_CLOCK", 1980), line, series("DEV_MEM_CLOCK", 2619))
    assert len(scrape.bad_lines) == 1
    assert scrape.devices["GPU-a"].readings.values == {"sm_clock_mhz": 1980, "memory_clock_mhz": 2619}


def test_a_series_that_names_no_gpu_is_nobodys():
    assert scraped('DCGM_FI_DEV_GPU_TEMP{Hostname="node-7"} 5').devices == {}


def test_every_family_is_a_field():
    assert {family.field for family in FAMILIES.values()} <= set(FIELDS)


@given(st.binary(max_size=400))
def test_no_body_breaks_the_reading(body):
    read_scrape(body + b"\n" + series("DEV_SM_CLOCK", 1980).encode() + b"\n", host="here")


@given(st.sampled_from(sorted(FAMILIES)), st.floats() | st.integers(-(1 << 70), 1 << 70))
def test_a_value_is_kept_only_where_it_can_be(name, value):
    for field, kept in values(f"{name}{{{LABELS}}} {value}", gpu="GPU-a").values.items():
        assert FIELDS[field].least <= kept <= FIELDS[field].most


def test_a_gauge_of_xids_tells_changes_and_marks_what_was_there_before():
    gauges = XidGauges()
    gpu = Gpu(uuid="GPU-a", host="h")
    told = [gauges.read(gpu, xid, at_us=at) for at, xid in enumerate([31, 31, 79, 79, 0, 79])]
    assert [(event.kind, event.code) if event else None for event in told] == [
        ("xid_standing", 31), None, ("xid", 79), None, None, ("xid", 79),
    ]  # fmt: skip
    assert "would not show" in told[2].detail


@pytest.fixture
def follow():
    """Follow an exporter that answers what `answers` holds."""
    started = []

    def follow(answers):
        def answer(request):
            body = answers["body"]
            return httpx.Response(500) if body is None else httpx.Response(200, text=body)

        told = Told(board(collector="dcgm", is_steady=False))
        source = DcgmSource(
            told.board,
            ["http://node-7:9400"],
            interval=0.05,
            now_us=now_us,
            transport=httpx.MockTransport(answer),
        )
        source.start()
        started.append(source)
        return source, told

    yield follow
    for source in started:
        source.stop()


def test_an_exporter_that_fails_is_shown_and_its_devices_with_it(follow):
    answers = {"body": series("DEV_SM_CLOCK", 1980) + "\n"}
    source, told = follow(answers)
    eventually(lambda: any(row.get("sm_clock_mhz_mean") == 1980 for row in told.of("GPU-a")))
    answers["body"] = None
    eventually(lambda: "HTTP 500" in source.problem())
    gone = {
        "state": "unreachable",
        "missing": {"*": "unreachable"},
        "samples": 0,
    }  # after the second it went in
    eventually(lambda: any(gone.items() <= row.items() for row in told.of("GPU-a")))
    assert told.board.visible() == 0
    answers["body"] = series("DEV_SM_CLOCK", 1980) + "\n"
    eventually(lambda: source.problem() == "" and told.board.visible() == 1)


def test_a_gpu_that_is_no_longer_in_the_scrape_is_removed_and_none_is_a_problem(follow):
    answers = {"body": series("DEV_SM_CLOCK", 1980) + "\n"}
    source, told = follow(answers)
    eventually(lambda: told.board.visible() == 1)
    answers["body"] = "# nothing\n"
    eventually(lambda: "removed" in told.kinds("GPU-a"))
    eventually(lambda: "shows no GPU" in source.problem())


def test_xids_of_an_exporter_are_events(follow):
    answers = {"body": series("DEV_XID_ERRORS", 0) + "\n"}
    _, told = follow(answers)
    eventually(lambda: told.board.visible() == 1)
    answers["body"] = series("DEV_XID_ERRORS", 79) + "\n"
    eventually(lambda: "xid" in told.kinds("GPU-a"))
