"""Whatever a version calls a thing, it has one name here."""

from __future__ import annotations

import pytest

from collectors.vllm_metrics.vocabulary import ALIASES, FAMILIES, naming_of
from tests.vllm_metrics.write_vocabulary import PAGE, with_tables


@pytest.mark.parametrize(
    ("wire", "name"),
    [
        pytest.param("vllm:prompt_tokens_total", "vllm:prompt_tokens", id="a counter loses its ending"),
        pytest.param("vllm:prompt_tokens", "vllm:prompt_tokens", id="and may come without it"),
        pytest.param("vllm:iteration_tokens_total", "vllm:iteration_tokens_total", id="a histogram keeps it"),
        pytest.param("vllm:tokens_total", "vllm:tokens", id="the counter that was never filled"),
        pytest.param("vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc", id="0.5 to 0.11: the KV cache"),
        pytest.param("vllm:gpu_prefix_cache_hits_total", "vllm:prefix_cache_hits", id="0.8 to 0.11: the prefix cache"),
        pytest.param(
            "vllm:time_per_output_token_seconds", "vllm:inter_token_latency_seconds", id="0.5 to 0.14: time per token"
        ),
        pytest.param(
            "vllm:request_time_per_output_token_seconds", "vllm:request_time_per_output_token_seconds",
            id="the mean of one request is another thing",
        ),
        pytest.param("vllm:cache_config", "vllm:cache_config_info", id="0.5: an Info"),
        pytest.param("ray_vllm:num_requests_running", "vllm:num_requests_running", id="Ray, with a colon"),
        pytest.param("ray_vllm_num_requests_running", "vllm:num_requests_running", id="Ray, without"),
        pytest.param("ray_vllm_request_success_total", "vllm:request_success", id="Ray, a counter"),
        pytest.param("vllm_kv_cache_usage_perc", "vllm:kv_cache_usage_perc", id="a colon that was made an underscore"),
        pytest.param("vllm_router_requests", "vllm_router_requests", id="another program of a like name"),
        pytest.param("vllm:brand_new", "vllm:brand_new", id="what nobody has heard of keeps its name"),
        pytest.param("sglang:num_running_reqs", "sglang:num_running_reqs", id="SGLang"),
        pytest.param("tgi_request_count_total", "tgi_request_count_total", id="TGI, with its ending"),
        pytest.param("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL", id="DCGM"),
    ],
)  # fmt: skip
def test_a_name_is_mapped(wire, name):
    assert naming_of(wire).name == name


@pytest.mark.parametrize(
    ("wire", "is_expected"),
    [
        ("vllm:prompt_tokens_total", True),
        ("vllm:brand_new", False),
        ("sglang:gen_throughput", True),
        ("http_requests_total", True),
        ("node_cpu_seconds_total", False),
    ],
)
def test_what_nobody_has_heard_of_is_told_apart(wire, is_expected):
    assert naming_of(wire).is_expected is is_expected


def test_every_alias_leads_to_a_family_that_is_no_alias():
    assert [alias.old for alias in ALIASES.values() if alias.new not in FAMILIES] == []
    assert [name for name in ALIASES if name in FAMILIES] == []


def test_every_family_has_a_range_of_versions():
    for family in FAMILIES.values():
        first, _, last = family.versions.partition("-")
        assert first.startswith("0.")
        assert not last or float(last.removeprefix("0.")) >= float(first.removeprefix("0."))


def test_the_page_shows_the_vocabulary_as_it_is():
    page = PAGE.read_text(encoding="utf-8")
    assert with_tables(page) == page
