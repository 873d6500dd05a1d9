"""What real vLLM 0.32.0 answered on a CPU is read to the last line."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from collectors.vllm_metrics.assembling import assemble
from collectors.vllm_metrics.consistency import contradictions
from collectors.vllm_metrics.exposition import parse
from tests.vllm_metrics.write_golden import FOLDER, RECORDED, recorded, told


def readings_of(name):
    return assemble(parse(recorded(name)))


def value_of(readings, name, **labels):
    found = [
        each.value
        for each in readings.values
        if each.series.name == name
        and labels.items() <= {**dict(each.series.labels), "engine": each.series.engine}.items()
    ]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("name", RECORDED)
def test_says_what_it_said(name):
    assert told(recorded(name)) == (FOLDER / f"{name}.told").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RECORDED)
def test_gives_the_samples_that_the_reference_gives(name):
    body = recorded(name)
    theirs = [
        (each.name, tuple(sorted(each.labels.items())), each.value)
        for family in text_string_to_metric_families(body.decode())
        for each in family.samples
    ]
    assert [(each.name, each.labels, each.value) for each in parse(body).samples] == theirs


def test_a_client_that_left_is_a_first_token_without_an_end():
    before, after = readings_of("after-load"), readings_of("after-abort")
    assert contradictions(before) == []
    assert [(each.reason.split(":")[0], each.apart) for each in contradictions(after)] == [
        ("first tokens without an end", 1)
    ]
    for reason in ("stop", "length", "abort", "error", "repetition"):
        finished = ("vllm:request_success", {"finished_reason": reason})
        assert value_of(before, finished[0], **finished[1]) == value_of(after, finished[0], **finished[1])
    assert value_of(after, "vllm:generation_tokens") > value_of(before, "vllm:generation_tokens")


def test_under_load_some_wait_and_nothing_is_contradicted():
    readings = readings_of("under-load")
    assert value_of(readings, "vllm:num_requests_waiting") > 0
    assert contradictions(readings) == []


def test_two_engines_behind_one_port_are_two():
    readings = readings_of("two-engines-one-server")
    assert {
        each.series.engine for each in readings.values if each.series.name == "vllm:generation_tokens"
    } == {"0", "1"}


@pytest.mark.parametrize("name", ["two-servers", "two-engines-under-load"])
def test_several_api_servers_tell_neither_creation_nor_start(name):
    readings = readings_of(name)
    vllm = [each for each in readings.values if each.series.name.startswith("vllm:")]
    assert {each.since_us for each in (*vllm, *readings.histograms)} == {None}


def test_the_adapters_that_run_are_told():
    found = [
        each
        for each in readings_of("lora-under-load").values
        if each.series.name == "vllm:lora_requests_info"
    ]
    assert [dict(each.series.labels) for each in found] == [
        {"max_lora": "2", "running_lora_adapters": "beta", "waiting_lora_adapters": "beta"}
    ]
    assert found[0].reported_us is not None
