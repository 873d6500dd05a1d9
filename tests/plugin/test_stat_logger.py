"""The class that vLLM loads, with a stand-in for vLLM that has the interface of one version or another."""

import importlib
import sys
from types import ModuleType, SimpleNamespace

import pytest

from tests.plugin.stats import AT, Collector, SchedulerStats, make_sender, step, vllm_config


class StatLoggerBase:
    pass


class AggregateStatLoggerBase(StatLoggerBase):
    pass


@pytest.fixture(params=["one logger for all engines", "one logger for each engine"])
def bases(request):
    newer = request.param == "one logger for all engines"
    return {"StatLoggerBase": StatLoggerBase} | (
        {"AggregateStatLoggerBase": AggregateStatLoggerBase} if newer else {}
    )


@pytest.fixture
def module(bases, monkeypatch):
    """The plugin's module, imported beside a vLLM that has `bases` only."""
    for name in ("vllm", "vllm.v1", "vllm.v1.metrics"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    loggers = ModuleType("vllm.v1.metrics.loggers")
    vars(loggers).update(bases)
    monkeypatch.setitem(sys.modules, "vllm.v1.metrics.loggers", loggers)
    sys.modules["vllm.v1.metrics"].loggers = loggers
    monkeypatch.delitem(sys.modules, "fairclock_vllm_plugin.stat_logger", raising=False)
    yield importlib.import_module("fairclock_vllm_plugin.stat_logger")
    sys.modules.pop("fairclock_vllm_plugin.stat_logger", None)


@pytest.fixture
def collector():
    return Collector()


@pytest.fixture
def make(module, bases, collector, monkeypatch):
    """Makes the logger as vLLM does, for the ranks given."""
    sender = make_sender(collector)
    monkeypatch.setattr(module, "_sender", lambda settings, *, frontends: sender)
    monkeypatch.setattr(module.atexit, "register", lambda *_, **__: None)

    def made(*ranks, config=None):
        key = "engine_indexes" if "AggregateStatLoggerBase" in bases else "engine_index"
        value = list(ranks) if key == "engine_indexes" else ranks[0]
        logger = module.FairclockStatLogger(vllm_config=config or vllm_config(), **{key: value})
        assert isinstance(logger, tuple(bases.values()))
        return logger, lambda: sender.close(timeout_seconds=120)

    yield made
    sender.close(timeout_seconds=120)


def test_a_request_with_everything_that_vllm_says_of_it(make, collector):
    logger, end = make(3)
    logger.log_engine_initialized()
    logger.record(
        scheduler_stats=SchedulerStats(),
        iteration_stats=step("chatcmpl-r1"),
        mm_cache_stats=None,
        engine_idx=3,
    )
    end()
    (found,) = collector.of("fairclock.request.finished")
    assert found == {
        "event.name": "fairclock.request.finished",
        "fairclock.engine.rank": 3,
        "fairclock.record": 1,
        "gen_ai.request.model": "llama",
        "gen_ai.request.id": "chatcmpl-r1",
        "fairclock.arrived_unix_nano": int((AT - 2.5) * 1e9),
        "gen_ai.latency.e2e": 2.5,
        "gen_ai.latency.time_in_queue": 0.4,
        "gen_ai.latency.time_in_model_prefill": 0.25,
        "gen_ai.latency.time_in_model_decode": 1.8,
        "gen_ai.latency.time_in_model_inference": 2.05,
        "gen_ai.usage.prompt_tokens": 1_200,
        "gen_ai.usage.cached_tokens": 512,
        "gen_ai.usage.completion_tokens": 340,
        "fairclock.preemptions": 1,
        "gen_ai.response.finish_reason": "stop",
    }


@pytest.mark.parametrize(
    ("field", "key"),
    [
        ("request_id", "gen_ai.request.id"),
        ("num_cached_tokens", "gen_ai.usage.cached_tokens"),
        ("num_preemptions", "fairclock.preemptions"),
        ("queued_time", "gen_ai.latency.time_in_queue"),
        ("finish_reason", "gen_ai.response.finish_reason"),
    ],
)
def test_what_an_older_vllm_does_not_have_is_absent_and_not_zero(make, collector, field, key):
    logger, end = make(0)
    iteration = step("r1")
    delattr(iteration.finished_requests[0], field)
    logger.record(None, iteration)
    end()
    (found,) = collector.of("fairclock.request.finished")
    assert key not in found
    assert len(found) == 15


@pytest.mark.parametrize("seconds", [1_165.5, -1_165.5, 1e30, float("nan"), float("inf")])
def test_what_is_impossible_is_sent_as_it_is(make, collector, seconds):
    logger, end = make(0)
    iteration = step("r1")
    iteration.finished_requests[0].prefill_time = iteration.finished_requests[0].e2e_latency = seconds
    logger.record(None, iteration)
    end()
    (found,) = collector.of("fairclock.request.finished")
    assert (
        str(found["gen_ai.latency.time_in_model_prefill"]) == str(found["gen_ai.latency.e2e"]) == str(seconds)
    )


def test_the_engines_settings(make, collector):
    logger, end = make(0)
    logger.log_engine_initialized()
    end()
    (found,) = collector.of("fairclock.engine.started")
    settings = {
        key.removeprefix("fairclock."): value for key, value in found.items() if key.startswith("fairclock.")
    }
    assert settings | {"engine.vllm_version": ""} == {
        "engine.rank": 0, "record": 0, "engine.device": "cuda", "engine.gpus": 8, "engine.tensor_parallel": 4,
        "engine.pipeline_parallel": 2, "engine.data_parallel": 2, "engine.max_num_seqs": 256,
        "engine.max_num_batched_tokens": 8192, "engine.max_model_len": 4096, "kv_cache.blocks": 1000,
        "kv_cache.block_tokens": 16, "kv_cache.tokens": 16_000, "engine.vllm_version": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "gpus"),
    [
        ({"device_config": SimpleNamespace(device_type="cpu")}, 0),
        ({"parallel_config": SimpleNamespace(tensor_parallel_size=2, pipeline_parallel_size=1, prefill_context_parallel_size=4)}, 8),
        ({"parallel_config": None}, None),
    ],
    ids=["a CPU", "prefill-context parallel", "a vLLM that does not say"],
)  # fmt: skip
def test_how_many_gpus_a_rank_takes(make, collector, changes, gpus):
    logger, end = make(0, config=vllm_config(**changes))
    logger.log_engine_initialized()
    end()
    (found,) = collector.of("fairclock.engine.started")
    assert found.get("fairclock.engine.gpus") == gpus


def test_each_engine_has_its_rank(make, collector, bases):
    ranks = (0, 1) if "AggregateStatLoggerBase" in bases else (1,)
    logger, end = make(*ranks)
    logger.log_engine_initialized()
    for rank in ranks:
        logger.record(None, step(f"r{rank}"), engine_idx=rank)
    end()
    started = [each["fairclock.engine.rank"] for each in collector.of("fairclock.engine.started")]
    finished = [each["fairclock.engine.rank"] for each in collector.of("fairclock.request.finished")]
    assert started == finished == list(ranks)


def test_a_vllm_that_says_nothing_of_being_ready_is_heard_all_the_same(make, collector):
    logger, end = make(0)
    logger.record(SchedulerStats(), None)
    end()
    assert [each["event.name"] for each in collector.records][:1] == ["fairclock.engine.started"]


def test_a_new_argument_of_vllms_is_passed_over(make, collector):
    logger, end = make(0)
    logger.record(SchedulerStats(), step("r1"), None, 0, something_new=1)
    end()
    assert collector.ids == ["r1"]


def test_statistics_of_another_shape_are_counted_and_never_vllms_trouble(make, collector):
    logger, end = make(0)
    logger.record(None, object())
    logger.record(None, step("r1"))
    end()
    assert collector.ids == ["r1"]
    (lost,) = collector.of("fairclock.records.lost")
    assert (lost["fairclock.lost.records"], lost["fairclock.lost.reason"]) == (1, "step not readable")


def test_off_is_off(module, monkeypatch):
    monkeypatch.setenv("FAIRCLOCK_OTLP_ENDPOINT", "off")
    logger = module.FairclockStatLogger(vllm_config())
    logger.log_engine_initialized()
    logger.record(SchedulerStats(), step("r1"))
    logger.log()
    logger.record_sleep_state(1, 1)
    assert module._senders == {}


def test_no_prompt_and_no_parameter_of_a_request_is_sent(make, collector):
    logger, end = make(0)
    iteration = step("r1")
    for name in ("prompt", "output", "max_tokens_param", "lora_name", "user"):
        setattr(iteration.finished_requests[0], name, "the customer's secret")
    logger.record(SchedulerStats(), iteration)
    end()
    assert collector.ids == ["r1"]
    assert not any(b"secret" in body for body in collector.bodies)
