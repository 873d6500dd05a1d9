"""Figures that cannot all be true are told, and those that can are not."""

from __future__ import annotations

import pytest

from collectors.vllm_metrics.assembling import assemble
from collectors.vllm_metrics.consistency import contradictions
from collectors.vllm_metrics.exposition import parse

FIRST, LATENCY, SUCCESS = (
    "vllm:time_to_first_token_seconds",
    "vllm:e2e_request_latency_seconds",
    "vllm:request_success",
)


def histogram(name, *counts, count=None, total=1.0):
    edges = [str(n + 1) for n in range(len(counts) - 1)] + ["+Inf"]
    lines = [f'{name}_bucket{{le="{edge}"}} {number}\n' for edge, number in zip(edges, counts, strict=True)]
    return "".join(lines) + f"{name}_count {counts[-1] if count is None else count}\n{name}_sum {total}\n"


def state(*, firsts=5, finished=5, ends=5, running=0, waiting=0, reason="stop"):
    return (
        histogram(FIRST, firsts, firsts)
        + histogram(LATENCY, ends, ends)
        + f'{SUCCESS}_total{{finished_reason="{reason}"}} {finished}\n'
        + f"vllm:num_requests_running {running}\nvllm:num_requests_waiting {waiting}\n"
    )


def found(text):
    return [(each.about, each.reason, each.apart) for each in contradictions(assemble(parse(text.encode())))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            state(firsts=7), [((FIRST, SUCCESS), "first tokens without an end: requests whose clients left are counted nowhere else", 2)],
            id="two clients that left",
        ),
        pytest.param(
            state(firsts=4), [((FIRST, SUCCESS), "more requests ended with an output than had a first token", 1)],
            id="an end with an output but no first token",
        ),
        pytest.param(
            state(ends=4), [((LATENCY, SUCCESS), "the latency of some ends is missing, or there twice", 1)],
            id="an end without a latency",
        ),
        pytest.param(
            histogram(LATENCY, 1, 2) + histogram("vllm:request_queue_time_seconds", 1, 3),
            [((LATENCY, "vllm:request_queue_time_seconds"), "histograms that are observed together have different counts", 1)],
            id="an end that waited but did not last",
        ),
        pytest.param(
            'vllm:prompt_tokens_total 9\nvllm:prompt_tokens_by_source_total{source="a"} 4\nvllm:prompt_tokens_by_source_total{source="b"} 4\n',
            [(("vllm:prompt_tokens_by_source", "vllm:prompt_tokens"), "the parts do not add up to the whole", 1)],
            id="sources that do not add up to the prompts",
        ),
        pytest.param(
            "vllm:prefix_cache_hits_total 3\nvllm:prefix_cache_queries_total 2\n",
            [(("vllm:prefix_cache_hits", "vllm:prefix_cache_queries"), "a part is larger than the whole", 1)],
            id="more hits than queries",
        ),
        pytest.param(
            "vllm:kv_cache_usage_perc 1.5\n", [(("vllm:kv_cache_usage_perc",), "a ratio outside 0 to 1", 1.5)],
            id="a cache that is more than full",
        ),
        pytest.param(
            histogram("vllm:request_generation_tokens", 1, 1, total=30) + "vllm:generation_tokens_total 20\n",
            [(("vllm:request_generation_tokens", "vllm:generation_tokens"), "requests that ended have more tokens than all requests", 10)],
            id="ended requests with more tokens than all",
        ),
        pytest.param(
            histogram(LATENCY, 3, 2, 4), [((LATENCY,), "a bucket counts less than the one below it", 1)],
            id="buckets that fall",
        ),
        pytest.param(
            histogram(LATENCY, 1, 4, count=5), [((LATENCY,), "the last bucket and the count differ", 1)],
            id="a count that the last bucket does not have",
        ),
        pytest.param(
            histogram(LATENCY, 1, 1, total=-1165.2), [((LATENCY,), "the sum is negative: an impossible duration is in it", 1165.2)],
            id="a host's uptime, subtracted",
        ),
        pytest.param(histogram(LATENCY, 1, 1, total="+Inf"), [((LATENCY,), "the sum is no number", 1)], id="an infinite sum"),
    ],
)  # fmt: skip
def test_a_contradiction_is_told(text, expected):
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(state(), id="all requests ended"),
        pytest.param(state(firsts=7, running=2), id="two are running"),
        pytest.param(state(firsts=6, waiting=1), id="one was preempted and waits"),
        pytest.param(state(firsts=3, finished=5, ends=5, reason="abort"), id="two were aborted before a first token"),
        pytest.param(histogram(FIRST, 7, 7), id="nothing is known of ends"),
        pytest.param(state(firsts=9).replace("vllm:num_requests_running 0", "vllm:num_requests_running NaN"), id="nobody knows how many run"),
        pytest.param('vllm:num_requests_running{pid="1"} 2\nvllm:kv_cache_usage_perc{pid="1"} 3\n', id="gauges of one of several processes"),
        pytest.param("sglang:num_running_reqs -1\n", id="another program's figures"),
        pytest.param("", id="nothing"),
    ],
)  # fmt: skip
def test_what_can_be_true_is_not_suspect(text):
    assert found(text) == []


def test_engines_are_held_against_themselves_only():
    text = (
        'vllm:prefix_cache_hits_total{engine="0"} 3\nvllm:prefix_cache_queries_total{engine="0"} 2\n'
        'vllm:prefix_cache_hits_total{engine="1"} 0\nvllm:prefix_cache_queries_total{engine="1"} 9\n'
    )
    assert [each.engine for each in contradictions(assemble(parse(text.encode())))] == ["0"]
