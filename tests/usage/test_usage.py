"""Usage as a real store gives it: tokens by class, how each request is treated, what is estimated and how."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta

import pytest

from billing.usage import Treatment
from billing.usage.reading import read_request_usage, read_usage
from fairclock.model.length_classes import LENGTH_CLASSES
from sla.contracts.where import Where
from tests.cost_book.traffic import HOUR, SECOND, engine, feed, gateway, good_machine, good_settings, hours


def usage(store, window=None, as_of=None, settings=None, **others):
    return read_usage(
        store, window or hours(), as_of or store.watermark(), settings or good_settings(), **others
    )


def tokens(group):
    return (group.uncached_prompt_tokens, group.cached_prompt_tokens, group.completion_tokens)


def test_tokens_are_the_responses_own_count_class_by_class(store):
    feed(
        store,
        [gateway(10, 5, 1, prompt_tokens="1000", cached_tokens="400", completion_tokens="30")],
        [engine(10, 5, 1, prompt_tokens=999, completion_tokens=29)],
    )
    (group,) = usage(store)
    assert tokens(group) == (600, 400, 30)
    assert not group.estimated
    assert (group.machine, group.gpu_picoseconds, group.peak_kv_tokens) == ("H", 10 * SECOND, 1030)
    assert (group.start, group.end, group.hour) == (HOUR, HOUR + timedelta(hours=1), HOUR)


def test_tokens_are_the_engines_where_the_gateway_logs_none(store):
    unknown = {"prompt_tokens": None, "cached_tokens": None, "completion_tokens": None}
    feed(
        store,
        [gateway(10, 5, 1, **unknown), gateway(20, 5, 2, **unknown)],
        [engine(10, 5, 1, cached_tokens=60), engine(20, 5, 2)],
    )
    (group,) = usage(store)
    # of the second nobody says what was cached: then nothing was
    assert (tokens(group), group.estimated) == ((140, 60, 100), False)


def test_more_cached_tokens_than_the_prompt_has_do_not_make_it_longer(store):
    feed(store, [gateway(10, 5, 1, prompt_tokens="10", cached_tokens="99", completion_tokens="1")])
    assert tokens(usage(store)[0]) == (0, 10, 1)


UNKNOWN = {"prompt_tokens": None, "cached_tokens": None, "completion_tokens": None}
TREATED = {
    "an answer": ({}, Treatment.COMPLETED, 1),
    "a client that left": ({"status": "499"}, Treatment.ABORTED, 0),
    "a stream that the client cut": ({"request_completion": ""}, Treatment.ABORTED, 0),
    "a timeout": ({"status": "504"}, Treatment.INCOMPLETE, 0),
    "an answer that broke off": ({"incomplete": "true"}, Treatment.INCOMPLETE, 0),
    "another answer than was asked for": ({"substituted": "true"}, Treatment.INCOMPLETE, 0),
    "a quota": ({"status": "429"}, Treatment.REFUSED, None),
    "no capacity": ({"status": "503"}, Treatment.REFUSED, None),
    "a server's error": ({"status": "500"}, Treatment.REFUSED, None),
    "a client's error": ({"status": "404"}, Treatment.REFUSED, None),
    "a second attempt": (
        {
            "upstream_addr": "a:1, b:1",
            "upstream_status": "502, 200",
            "upstream_response_time": "1.000, 2.000",
        },
        Treatment.RETRIED,
        1,
    ),
    "a probe": ({"tenant": "prober"}, Treatment.PROBE, 0),
}


@pytest.mark.parametrize(("changes", "treatment", "completion"), TREATED.values(), ids=TREATED.keys())
def test_how_a_request_is_treated_and_what_is_estimated_of_it(store, changes, treatment, completion):
    known = [
        gateway(100 + n, 5, 10 + n, prompt_tokens=prompt, completion_tokens=done)
        for n, (prompt, done) in enumerate([("30", "3"), ("10", "1"), ("20", "2"), ("40", "9")])
    ]
    others = [
        gateway(200, 5, 20, tenant="beta", prompt_tokens="7"),
        gateway(210, 5, 21, model="other", prompt_tokens="7"),
    ]
    feed(store, [*known, *others, gateway(10, 5, 1, **UNKNOWN, **changes)])
    groups = usage(store, settings=good_settings(probe_tenants=frozenset({"prober"})))
    assert sum(each.requests for each in groups) == 7
    (group,) = (each for each in groups if each.length_class == "")
    assert (group.treatment, group.estimated) == (treatment, completion is not None)
    # the lower median of the four that are known; a probe's tenant has none
    prompt = 0 if completion is None or treatment is Treatment.PROBE else 20
    assert tokens(group) == (prompt, 0, 2 if completion else 0)
    assert all(each.estimated == (each is group) for each in groups if each is not group)


def test_where_nothing_is_known_nothing_is_estimated_but_it_is_marked(store):
    feed(store, [gateway(10, 5, 1, **UNKNOWN)])
    (group,) = usage(store)
    assert (group.estimated, tokens(group), group.requests, group.machine) == (True, (0, 0, 0), 1, "")


def test_a_completion_that_is_known_is_kept_where_the_prompt_is_not(store):
    feed(
        store,
        [
            gateway(10, 5, 1, prompt_tokens=None, completion_tokens="5"),
            gateway(20, 5, 2, prompt_tokens="40", completion_tokens="9"),
        ],
    )
    assert {(each.estimated, tokens(each)) for each in usage(store)} == {
        (True, (40, 0, 5)),
        (False, (40, 0, 9)),
    }


def test_requests_are_grouped_by_all_that_a_price_can_ask_for(store):
    feed(
        store,
        [
            gateway(10, 5, 1), gateway(11, 5, 2), gateway(12, 5, 3, tenant="beta"), gateway(13, 5, 4, model="n"),
            gateway(14, 5, 5, inference_mode="int8"), gateway(15, 5, 6, prompt_tokens="512"), gateway(16, 5, 7, prompt_tokens="511"),
            gateway(3599.9, 5, 8), gateway(3600, 5, 9),
        ],
        [],
    )  # fmt: skip
    groups = usage(store, hours(0, 2))
    assert [(each.tenant, each.model, each.length_class, each.inference_mode, each.start == HOUR, each.requests) for each in groups] == [
        ("acme", "m", "medium", "", True, 1), ("acme", "m", "short", "", True, 4), ("acme", "m", "short", "int8", True, 1),
        ("acme", "n", "short", "", True, 1), ("acme", "m", "short", "", False, 1), ("beta", "m", "short", "", True, 1),
    ]  # fmt: skip


def test_a_price_that_changes_cuts_by_when_a_request_was_received(store):
    cut = HOUR + timedelta(minutes=10)
    feed(store, [gateway(599.999, 60, 1), gateway(600, 60, 2)], [engine(600, 59, 1), engine(600.1, 59, 2)])
    before, after = usage(store, cuts=[cut])
    assert (before.start, before.end, before.requests) == (HOUR, cut, 1)
    assert (after.start, after.end, after.requests) == (cut, HOUR + timedelta(hours=1), 1)
    whole = usage(store)[0]
    assert before.gpu_picoseconds + after.gpu_picoseconds == whole.gpu_picoseconds


@pytest.mark.parametrize(
    ("prompt", "length_class"),
    [(0, "short"), (511, "short"), (512, "medium"), (2048, "medium"), (2049, "long"), (16000, "long"), (16001, "long_context")],
)  # fmt: skip
def test_prompts_are_classed_as_contracts_class_them(store, prompt, length_class):
    feed(store, [gateway(10, 5, 1, prompt_tokens=str(prompt))], [])
    (group,) = usage(store)
    assert group.length_class == length_class
    promised = {each.name: Where(prompt_tokens=each.name).prompt_tokens for each in LENGTH_CLASSES}
    holds = {
        name
        for name, range_ in promised.items()
        if range_.lowest <= prompt and (range_.highest is None or prompt <= range_.highest)
    }
    assert holds == {each.name for each in LENGTH_CLASSES if length_class in each.cells}


def test_all_time_of_a_request_is_its_hours_even_what_it_ran_in_the_next(store):
    feed(store, [gateway(3590, 4000, 1), gateway(3601, 10, 2)], [engine(3590, 4000, 1), engine(3601, 10, 2)])
    first, second = (usage(store, hours(number))[0].gpu_picoseconds for number in (0, 1))
    assert (first, second) == ((3990 * 2 + 10) * SECOND, 10 * SECOND)
    assert [each.gpu_picoseconds for each in usage(store, hours(0, 2))] == [first, second]


def test_usage_and_cost_book_give_a_tenant_the_same_time(store):
    from billing.cost_book.reading import read_cost_book

    lines = [
        (gateway(10 + n, 7, n + 1, tenant=f"t{n % 3}"), engine(10 + n / 3, 7 - n / 10, n + 1))
        for n in range(20)
    ]
    feed(store, *zip(*lines, strict=True))
    by_tenant: dict[str, int] = {}
    for each in usage(store):
        by_tenant[each.tenant] = by_tenant.get(each.tenant, 0) + each.gpu_picoseconds
    (time,) = read_cost_book(store, hours(), store.watermark(), good_settings()).times
    assert by_tenant == {tenant: each.gpu_picoseconds for tenant, each in time.tenants.items()}
    assert sum(by_tenant.values()) > 0


def test_a_request_without_a_share_is_of_the_machine_behind_its_upstream(store):
    feed(store, [gateway(10, 5, 1)])
    machine = good_machine(upstreams=("10.0.0.1:8000",))
    (group,) = usage(store, settings=good_settings(machines=(machine,)))
    assert (group.machine, group.gpu_picoseconds) == ("H", 0)


def test_without_any_machine_usage_is_tokens_alone(store):
    feed(store, [gateway(10, 5, 1)], [engine(10, 5, 1)])
    (group,) = usage(store, settings=good_settings(machines=()))
    assert (tokens(group), group.gpu_picoseconds, group.machine) == ((100, 0, 50), 0, "")


def test_order_of_arrival_replay_and_seals_change_nothing(store):
    lines = [(gateway(10 + n, 7, n + 1), engine(10 + n / 3, 7 - n / 10, n + 1)) for n in range(6)]
    gateways, engines = (list(each) for each in zip(*lines, strict=True))
    feed(store, gateways[3:], engines[:2])
    feed(store, gateways[:3], engines[2:])
    then, found = store.watermark(), usage(store)
    feed(store, gateways, engines)
    store.seal()
    assert usage(store) == found
    feed(store, [gateway(30, 7, 99)], [])
    assert usage(store, as_of=then) == found
    assert sum(asdict(each)["requests"] for each in usage(store)) == 7


def test_each_request_of_a_tenant_has_its_own_usage(store):
    lines = [
        gateway(10, 5.1, 1, prompt_tokens="30", cached_tokens="10"),
        gateway(30, 5, 2, completion_tokens=None, prompt_tokens=None),
        gateway(30, 5, 3, tenant="beta"),
    ]
    feed(store, lines, [engine(10, 5.04, 1)])
    first, second = read_request_usage(store, hours(), store.watermark(), good_settings(), tenant="acme")
    assert (
        first.prompt_tokens,
        first.cached_prompt_tokens,
        first.completion_tokens,
        first.peak_kv_tokens,
    ) == (30, 10, 50, 80)
    assert (first.request_id, first.machine, first.gpu_picoseconds, first.gpu_tenths) == (
        "r1",
        "H",
        10_080 * SECOND // 1000,
        101,
    )
    assert (second.prompt_tokens, second.completion_tokens, second.gpu_picoseconds, second.gpu_tenths) == (
        None,
        None,
        None,
        None,
    )
    assert second.peak_kv_tokens is None
    assert (
        read_request_usage(store, hours(), store.watermark(), good_settings(machines=()), tenant="acme")[
            0
        ].gpu_tenths
        is None
    )


def test_the_groups_are_the_sums_of_their_requests(store):
    lines = [
        (gateway(10 + n, 7, n + 1), engine(10 + n / 3, 7 - n / 10, n + 1, cached_tokens=n)) for n in range(9)
    ]
    feed(store, *zip(*lines, strict=True))
    (group,) = usage(store)
    each = read_request_usage(store, hours(), store.watermark(), good_settings(), tenant="acme")
    assert group.requests == len(each) == 9
    assert group.gpu_picoseconds == sum(one.gpu_picoseconds or 0 for one in each)
    assert group.uncached_prompt_tokens + group.cached_prompt_tokens == sum(
        one.prompt_tokens or 0 for one in each
    )
    assert group.completion_tokens == sum(one.completion_tokens or 0 for one in each)


def test_more_than_a_day_is_read_as_its_days_are(store):
    from billing.cost_book.reading import read_cost_book

    # HOUR is 03:00; the second request runs over the 24th hour's end, where a day's reading ends
    feed(
        store,
        [gateway(10, 5, 1), gateway(24 * 3600 - 10, 30, 2), gateway(26 * 3600, 5, 3)],
        [
            engine(10, 5, 1),
            engine(24 * 3600 - 10, 30, 2),
            engine(26 * 3600, 5, 3),
            engine(24 * 3600 - 5, 10, 4, instance="stray"),
        ],
    )
    as_of = store.watermark()
    assert [each.gpu_picoseconds for each in usage(store, hours(0, 27))] == [
        10 * SECOND,
        60 * SECOND,
        10 * SECOND,
    ]
    whole = read_cost_book(store, hours(0, 27), as_of, good_settings())
    used = {(each.start - HOUR) // timedelta(hours=1): each.tenants_picoseconds for each in whole.times}
    assert {hour: each for hour, each in used.items() if each} == {
        0: 10 * SECOND,
        23: 20 * SECOND,
        24: 40 * SECOND,
        26: 10 * SECOND,
    }
    assert len(used) == 27
    assert [(each.engine, each.sequences, each.running_us) for each in whole.unknown] == [("stray", 1, 10**7)]
