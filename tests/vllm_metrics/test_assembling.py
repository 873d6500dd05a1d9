"""The lines of a scrape become one reading a series; every line is accounted for."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.vllm_metrics import choosing
from collectors.vllm_metrics.assembling import assemble
from collectors.vllm_metrics.exposition import parse
from collectors.vllm_metrics.readings import Series
from tests.vllm_metrics.writing import LABELS, NUMBERS, text_of


def read(text: str, **target_labels: str):
    return assemble(parse(text.encode()), target_labels=target_labels)


def values(text: str, **target_labels: str):
    return {
        (each.series.name, each.series.engine, each.series.model, each.series.labels): each.value
        for each in read(text, **target_labels).values
    }


def lines_of(readings):
    kept = sum(each.samples for each in (*readings.values, *readings.histograms, *readings.bad))
    return kept + readings.passed_over + readings.dropped


class TestValues:
    def test_a_counter_knows_since_when_it_counts(self):
        reading = read(
            "# TYPE vllm:prompt_tokens_total counter\n"
            'vllm:prompt_tokens_total{engine="1",model_name="m"} 56.0\n'
            "# TYPE vllm:prompt_tokens_created gauge\n"
            'vllm:prompt_tokens_created{engine="1",model_name="m"} 1.7959803464778419e+09\n'
        ).values[0]
        assert reading.series == Series(name="vllm:prompt_tokens", engine="1", model="m")
        assert (reading.kind, reading.value, reading.since_us) == ("counter", 56, 1_795_980_346_477_842)
        assert reading.samples == 2

    def test_without_that_the_start_of_the_process_serves(self):
        found = read('vllm:prompt_tokens_total{engine="0"} 5\nprocess_start_time_seconds 1.7e9\n')
        assert found.values[0].since_us == 1_700_000_000_000_000

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param('process_start_time_seconds{instance="a"} 1.7e9\n', id="one of several, federated"),
            pytest.param("process_start_time_seconds 1.7e9\nray_node_cpu 1\n", id="that of Ray's agent"),
            pytest.param("process_start_time_seconds NaN\n", id="no number"),
            pytest.param("", id="none"),
        ],
    )
    def test_the_start_of_another_process_serves_nobody(self, text):
        assert read('vllm:prompt_tokens_total{engine="0"} 5\n' + text).values[0].since_us is None

    def test_missing_engine_is_engine_0_where_there_must_be_one(self):
        found = values(
            'vllm:num_requests_running{model_name="m"} 2\nvllm:admission_rejections_total{reason="r"} 1\n'
        )
        assert found == {
            ("vllm:num_requests_running", "0", "m", ()): 2,
            ("vllm:admission_rejections", "", "", (("reason", "r"),)): 1,
        }

    def test_gauges_of_several_processes_stay_apart(self):
        found = values(
            'vllm:kv_cache_usage_perc{engine="0",pid="7"} 0.1\nvllm:kv_cache_usage_perc{engine="0",pid="8"} 0.3\n'
        )
        assert sorted(found.values()) == [0.1, 0.3]

    def test_engines_behind_one_port_stay_apart(self):
        found = values('vllm:num_preemptions_total{engine="0"} 1\nvllm:num_preemptions_total{engine="1"} 2\n')
        assert {key[1]: value for key, value in found.items()} == {"0": 1, "1": 2}

    def test_not_a_number_is_a_reading_without_a_value(self):
        assert list(values("vllm:num_requests_running NaN\n").values()) == [None]

    def test_ray_declares_counters_as_gauges_and_puts_labels_on_them(self):
        text = '# TYPE ray_vllm:request_success_total gauge\nray_vllm:request_success_total{finished_reason="stop",WorkerId="w"} 3\n'
        reading = read(text).values[0]
        assert (reading.series.name, reading.kind) == ("vllm:request_success", "counter")
        assert reading.series.labels == (("WorkerId", "w"), ("finished_reason", "stop"))

    def test_a_foreign_family_keeps_name_and_labels(self):
        assert values('DCGM_FI_DEV_GPU_UTIL{gpu="0",modelName="H100",engine="x"} 7\n') == {
            ("DCGM_FI_DEV_GPU_UTIL", "", "", (("engine", "x"), ("gpu", "0"), ("modelName", "H100"))): 7
        }

    def test_a_summary_is_counters_and_quantiles_as_they_are(self):
        found = read(
            "# TYPE s summary\n"
            's{quantile="0.5"} 0.2\ns_sum 7.5\ns_count 3\n# TYPE s_created gauge\ns_created 1.6e9\n'
        )
        assert {each.series.name: each.kind for each in found.values} == {
            "s": "gauge", "s_sum": "counter", "s_count": "counter",
        }  # fmt: skip
        assert lines_of(found) == 4

    def test_a_gauge_called_created_is_a_gauge(self):
        assert values("batch_created 5\n") == {("batch_created", "", "", ()): 5}

    def test_labels_of_the_target_stand_back_behind_the_series_own(self):
        found = values('vllm:num_requests_running{zone="b"} 1\n', zone="a", rack="7", model_name="m")
        assert found == {("vllm:num_requests_running", "0", "m", (("rack", "7"), ("zone", "b"))): 1}


class TestOlderNames:
    def test_the_older_name_alone_is_read(self):
        assert values("vllm:gpu_cache_usage_perc 0.5\n") == {("vllm:kv_cache_usage_perc", "0", "", ()): 0.5}

    @pytest.mark.parametrize("first", ["vllm:gpu_cache_usage_perc 0.4\n", "vllm:kv_cache_usage_perc 0.5\n"])
    def test_beside_the_newer_one_it_is_passed_over(self, first):
        text = first + "vllm:gpu_cache_usage_perc 0.4\nvllm:kv_cache_usage_perc 0.5\n"
        found = read(text)
        assert [each.value for each in found.values] == [0.5]
        assert found.passed_over == 1

    def test_counts_that_may_be_of_blocks_say_so(self):
        assert values("vllm:gpu_prefix_cache_hits_total 9\n") == {
            ("vllm:prefix_cache_hits", "0", "", (("unit", "blocks or tokens"),)): 9
        }

    def test_beside_counts_of_tokens_they_are_passed_over(self):
        found = read("vllm:gpu_prefix_cache_hits_total 9\nvllm:prefix_cache_hits_total 9\n")
        assert [each.series.labels for each in found.values] == [()]
        assert found.passed_over == 1

    def test_an_older_histogram_is_read_under_the_newer_name(self):
        found = read(
            'vllm:time_per_output_token_seconds_bucket{le="0.5"} 1\nvllm:time_per_output_token_seconds_bucket{le="+Inf"} 2\n'
        )
        assert [each.series.name for each in found.histograms] == ["vllm:inter_token_latency_seconds"]


class TestSettings:
    def test_the_size_of_the_cache_becomes_numbers(self):
        found = values(
            'vllm:cache_config_info{engine="0",num_gpu_blocks="10",block_size="16",cache_dtype="auto"} 1\n'
        )
        assert {key[0]: value for key, value in found.items()} == {
            "vllm:cache_config_info": 1,
            "vllm:cache_config_num_gpu_blocks": 10,
            "vllm:cache_config_block_size_tokens": 16,
            "vllm:cache_config_kv_cache_size_tokens": 160,
        }

    def test_the_engine_s_own_number_of_tokens_wins(self):
        found = values(
            'vllm:cache_config_info{num_gpu_blocks="10",block_size="16",kv_cache_size_tokens="150"} 1\n'
        )
        assert found["vllm:cache_config_kv_cache_size_tokens", "0", "", ()] == 150

    def test_what_is_not_known_is_no_number(self):
        found = values('vllm:cache_config_info{num_gpu_blocks="None",block_size="16"} 1\n')
        assert len(found) == 2

    def test_of_lora_states_the_newest_is_kept_and_its_value_is_a_time(self):
        found = read(
            'vllm:lora_requests_info{running_lora_adapters="a,b",waiting_lora_adapters=""} 1.7e9\n'
            'vllm:lora_requests_info{running_lora_adapters="b",waiting_lora_adapters="a"} 1.7e9\n'
            'vllm:lora_requests_info{running_lora_adapters="",waiting_lora_adapters="c"} 1.8e9\n'
        )
        reading = found.values[0]
        assert (reading.value, reading.kind, reading.reported_us) == (1, "info", 1_800_000_000_000_000)
        assert dict(reading.series.labels)["waiting_lora_adapters"] == "c"
        assert found.passed_over == 2


class TestHistograms:
    def test_is_put_together_from_its_lines(self):
        found = read(
            '# TYPE vllm:e2e_request_latency_seconds histogram\n'
            'vllm:e2e_request_latency_seconds_bucket{le="+Inf",engine="0"} 4\n'
            'vllm:e2e_request_latency_seconds_bucket{le="0.3",engine="0"} 1\n'
            'vllm:e2e_request_latency_seconds_bucket{engine="0",le="1.0"} 3\n'
            'vllm:e2e_request_latency_seconds_count{engine="0"} 4\nvllm:e2e_request_latency_seconds_sum{engine="0"} 2.5\n'
            'vllm:e2e_request_latency_seconds_created{engine="0"} 1.7e9\n'
        )  # fmt: skip
        histogram = found.histograms[0]
        assert (histogram.edges, histogram.counts) == ((0.3, 1.0, math.inf), (1, 3, 4))
        assert (histogram.total, histogram.count, histogram.since_us) == (2.5, 4, 1_700_000_000_000_000)
        assert histogram.samples == 6

    def test_a_saved_scrape_without_comments_is_read_the_same(self):
        text = 'h_bucket{le="1"} 1\nh_bucket{le="+Inf"} 2\nh_sum 3\nh_count 2\nh_created 1.7e9\n'
        assert read(text).histograms == read("# TYPE h histogram\n" + text).histograms

    def test_edges_of_two_models_stay_apart(self):
        text = 'h_bucket{model_name="a",le="1"} 1\nh_bucket{model_name="b",le="2"} 1\n'
        assert [each.edges for each in read(text).histograms] == [(1.0,), (2.0,)]

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            pytest.param(
                'h_bucket{le="x"} 1\n', "le: absent or not a number", id="an edge that is no number"
            ),
            pytest.param('h_bucket{le="NaN"} 1\n', "le: absent or not a number", id="an edge that is NaN"),
            pytest.param(
                '# TYPE h histogram\nh_bucket{a="x"} 1\n', "le: absent or not a number", id="no edge"
            ),
            pytest.param(
                'h_bucket{le="1"} 1\nh_bucket{le="1.0"} 2\n', "le: the same edge twice", id="an edge twice"
            ),
            pytest.param('h_bucket{le="1"} NaN\n', "bucket: not a whole number", id="a count that is stale"),
            pytest.param('h_bucket{le="1"} 0.5\n', "bucket: not a whole number", id="half an observation"),
            pytest.param(
                'h_bucket{le="1"} +Inf\n', "bucket: not a whole number", id="an infinity of observations"
            ),
            pytest.param('h_bucket{le="1"} -1\n', "bucket: not a possible count", id="less than none"),
        ],
    )
    def test_one_that_makes_no_sense_costs_itself_alone(self, text, reason):
        found = read(text + 'g_bucket{le="1"} 1\nm 2\n')
        assert [bad.reason for bad in found.bad] == [reason]
        assert (len(found.histograms), len(found.values)) == (1, 1)
        assert lines_of(found) == len(parse((text + 'g_bucket{le="1"} 1\nm 2\n').encode()).samples)


class TestLimits:
    def test_unknown_series_are_kept_up_to_the_cap(self, monkeypatch):
        monkeypatch.setattr(choosing, "MOST_UNKNOWN", 3)
        found = read("vllm:num_requests_running 1\n" + "".join(f'odd{{n="{n}"}} 1\n' for n in range(5)))
        assert (len(found.values), found.unknown, found.dropped) == (4, 3, 2)


NAMES = st.sampled_from(
    ["vllm:prompt_tokens_total", "vllm:prompt_tokens_created", "vllm:prompt_tokens", "h_bucket", "h_sum", "h_count",
     "h_created", "vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc", "ray_vllm:kv_cache_usage_perc", "odd", "odd_total",
     "vllm:lora_requests_info", "vllm:cache_config_info", "sglang:x_count"]
)  # fmt: skip
MIXED = st.dictionaries(
    st.tuples(
        NAMES,
        st.one_of(LABELS, st.fixed_dictionaries({"le": st.sampled_from(["1", "2", "+Inf", "x"])})).map(
            lambda labels: tuple(sorted(labels.items()))
        ),
    ),
    NUMBERS,
    max_size=12,
)


@given(samples=MIXED)
def test_every_line_is_accounted_for(samples):
    exposition = parse(text_of(samples))
    readings = assemble(exposition)
    assert lines_of(readings) == len(exposition.samples) == len(samples)
    every = [each.series for each in (*readings.values, *readings.histograms)]
    assert len(set(every)) == len(every)
