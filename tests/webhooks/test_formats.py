"""The wire formats: golden payloads, signatures by each service's own rule, hostile names, lengths, answers."""

import base64
import hashlib
import hmac
import json
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.webhooks.credentials import Secret
from exporters.webhooks.event import AlertEvent, State, event_text, read_event
from exporters.webhooks.formats import dingtalk, feishu, generic
from exporters.webhooks.formats.format import Outcome
from exporters.webhooks.formats.registry import FORMATS
from exporters.webhooks.posting import Response
from tests.webhooks.factories import NOW, SECRET, good_event, outgoing
from tests.webhooks.write_golden import FOLDER, payload, text_of

CHATS = ("slack", "teams", "dingtalk", "feishu", "wecom")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("form", FORMATS)
def test_payloads_are_the_golden_ones(form, language):
    assert text_of(form, language) == (FOLDER / f"{form}.{language}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", FORMATS)
def test_no_golden_payload_has_a_hole(form):
    for language in ("en", "zh"):
        text = (FOLDER / f"{form}.{language}.json").read_text(encoding="utf-8")
        assert "None" not in text.replace('"spacing": "None"', "")
        assert "Undefined" not in text


def test_an_event_read_back_is_the_event_that_was_kept():
    assert read_event(event_text(good_event())) == good_event()
    later = json.loads(event_text(good_event())) | {"what_comes_later": 1}
    assert read_event(json.dumps(later)) == good_event()


def test_an_event_id_follows_from_alert_and_sequence_alone():
    assert good_event().event_id == good_event(summary_en="other", seconds=5).event_id
    ids = {good_event(sequence, alert_id=name).event_id for sequence in (1, 11) for name in ("a", "a1")}
    assert len(ids) == 4


@pytest.mark.parametrize(
    "changes", [{"sequence": 0}, {"at": NOW.replace(tzinfo=None)}], ids=["not counted", "without a zone"]
)
def test_an_event_that_cannot_be_ordered_is_refused(changes):
    values = {name: getattr(good_event(), name) for name in AlertEvent.__dataclass_fields__} | changes
    with pytest.raises(ValueError):
        AlertEvent(**values)


def test_fairclocks_own_signature_is_over_the_time_and_the_bytes_that_are_sent():
    request = FORMATS["json"].compose(outgoing("json", [good_event(summary_en="Zürich — 苏黎世")]))
    stamp = request.headers["Fairclock-Timestamp"]
    expected = hmac.new(SECRET.encode(), stamp.encode() + b"." + request.body, hashlib.sha256).hexdigest()
    assert request.headers["Fairclock-Signature"] == f"v1={expected}"
    assert stamp == str(int(NOW.timestamp()))


def test_fairclocks_own_signature_of_a_known_message():
    # printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret
    expected = "49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686"
    assert generic.signature(Secret("secret"), "1700000000", b'{"a":1}') == expected


def test_dingtalks_signature_of_a_known_message():
    # printf '1700000000000\nSECabc' | openssl dgst -sha256 -hmac SECabc -binary | base64
    expected = "jcUpW0QmtKduN03n4JqQ0PBosVjqnM8gU7fIIvsDmCM="
    assert dingtalk.signature(Secret("SECabc"), "1700000000000") == expected


def test_feishus_signature_of_a_known_message():
    # printf '' | openssl dgst -sha256 -hmac "$(printf '1700000000\nabc')" -binary | base64
    expected = "VIS10b0EBvzzSdFnuk4tznEmK5wHaruvf/WnViv2yR4="
    assert feishu.signature(Secret("abc"), "1700000000") == expected


def test_dingtalks_address_carries_time_and_signature_quoted():
    request = FORMATS["dingtalk"].compose(outgoing("dingtalk", [good_event()]))
    query = parse_qs(urlsplit(request.url.reveal()).query, strict_parsing=True)
    stamp = str(int(NOW.timestamp() * 1_000))
    digest = hmac.new(SECRET.encode(), f"{stamp}\n{SECRET}".encode(), hashlib.sha256).digest()
    assert query == {"k": ["1"], "timestamp": [stamp], "sign": [base64.b64encode(digest).decode()]}


HOSTILE = {
    "a Slack broadcast": "<!channel> pay me",
    "a Slack user": "<@U012AB3CD>",
    "a disguised link": "<https://evil.example|your bank>",
    "everybody at DingTalk": "@all @所有人",
    "everybody at Feishu": '<at user_id="all">所有人</at>',
    "a WeCom mention": "<@all><font color='warning'>x</font>",
    "Markdown": "**bold** [link](https://evil.example) `code` ~~no~~ # head",
    "new lines": "first\r\nContract: other\n\nBad: 0 of 0",
    "text turned around": "abc\u202edcb\u202c",
    "a template": "{{ 7 * 7 }} {% for x in y %}",
    "HTML": "<script>alert(1)</script>&amp;",
    "quotes": '"}],"at":{"isAtAll":true},"x":["',
    "half a surrogate": "a\ud800b",
    "no end": "x" * 100_000,
}


def strings(tree):
    """Every text in a payload."""
    if isinstance(tree, str):
        yield tree
    for inner in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from strings(inner)


def hostile_event(name):
    return good_event(
        contract_id=name, rule=name, objective=name, clock=name, summary_en=name, summary_zh=name,
        tenants=(name, name), threshold=name, value=name, incident=name, frozen_reason=name, alert_id=name,
    )  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("form", CHATS)
def test_a_name_is_text_whatever_it_is_made_of(form, language, name):
    for events in ([hostile_event(name)], [hostile_event(name), good_event()]):
        body = json.loads(FORMATS[form].compose(outgoing(form, events, language=language)).body)
        said = list(strings(body))
        harmless = json.loads(
            FORMATS[form].compose(outgoing(form, [good_event()] * len(events), language=language)).body
        )
        assert shape(body) == shape(harmless)
        assert not any("\u202e" in text or "\r" in text for text in said)
        assert not any("49" in text for text in said if "7 * 7" in name)
        if form == "slack":
            assert not any("<" in text or ">" in text for text in said)
            assert {block["text"]["type"] for block in body["blocks"]} == {"plain_text"}
        if form in {"dingtalk", "feishu", "wecom"}:
            assert not any("@" in text or "<" in text for text in said)
        if form == "teams":
            blocks = body["attachments"][0]["content"]["body"]
            assert {block["type"] for block in blocks} == {"RichTextBlock"}
            assert "entities" not in json.dumps(body)


def shape(tree):
    """The keys and fixed words of a payload, without the lines of text in it."""
    if isinstance(tree, dict):
        return {
            key: shape(value)
            for key, value in tree.items()
            if key not in {"text", "content", "body", "title", "sign"} or not isinstance(value, str | list)
        }
    return tree if not isinstance(tree, list) or not tree or isinstance(tree[0], str) else [shape(tree[0])]


LIMITS = {
    "slack": 200_000, "teams": 28_000, "dingtalk": 20_000, "feishu": 20_000, "pagerduty": 512_000, "wecom": 5_000,
}  # fmt: skip


@pytest.mark.parametrize("name", ["界" * 1_000, "&" * 1_000, '"' * 1_000], ids=["wide", "entities", "quotes"])
@pytest.mark.parametrize("form", LIMITS)
def test_what_is_too_long_for_a_service_is_cut(form, name):
    count = 20 if FORMATS[form].takes_groups else 1
    request = FORMATS[form].compose(outgoing(form, [hostile_event(name)] * count, language="zh"))
    assert len(request.body) <= LIMITS[form]
    body = json.loads(request.body)
    if form == "slack":
        header, *sections = [block["text"]["text"] for block in body["blocks"]]
        assert len(header) <= 150
        assert all(1 <= len(text) <= 3_000 for text in sections)
        assert not any(text.rstrip("…").endswith(("&", "&a", "&am", "&amp")) for text in (header, *sections))
    if form == "wecom":
        assert len(body["text"]["content"].encode()) <= 2_048
    if form == "pagerduty":
        assert len(body["payload"]["summary"]) <= 1_024
        assert len(body["dedup_key"]) <= 255


def test_of_many_events_that_do_not_fit_each_has_its_line():
    events = [good_event(alert_id=str(number), summary_en=f"number {number:02}") for number in range(20)]
    content = json.loads(FORMATS["wecom"].compose(outgoing("wecom", events)).body)["text"]["content"]
    assert all(f"FIRING: number {number:02}" in content for number in range(20))


@given(st.text(max_size=60), st.sampled_from(sorted(FORMATS)))
def test_any_name_makes_a_payload(name, form):
    body = FORMATS[form].compose(outgoing(form, [hostile_event(name)])).body
    assert isinstance(json.loads(body), dict)


def test_pagerduty_holds_an_alert_together_from_trigger_to_resolve():
    fired = payload("pagerduty", "en", "firing")["body"]
    over = payload("pagerduty", "en", "resolved")["body"]
    assert (fired["event_action"], over["event_action"]) == ("trigger", "resolve")
    assert fired["dedup_key"] == over["dedup_key"]
    assert fired["routing_key"] == SECRET


def test_alertmanager_keeps_labels_and_fingerprint_from_firing_to_resolution():
    (fired,), (over,) = (
        payload("alertmanager", "en", which)["body"]["alerts"] for which in ("firing", "resolved")
    )
    assert fired["labels"] == over["labels"]
    assert fired["fingerprint"] == over["fingerprint"]
    assert (fired["status"], fired["endsAt"]) == ("firing", "0001-01-01T00:00:00Z")
    assert (over["status"], over["endsAt"]) == ("resolved", "2026-10-07T03:10:00Z")
    assert payload("alertmanager", "en", "firing")["headers"]["Authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    ("form", "status", "body", "outcome"),
    [
        ("json", 200, b"", Outcome.TAKEN),
        ("json", 204, b"", Outcome.TAKEN),
        ("json", 302, b"", Outcome.LATER),
        ("json", 400, b"", Outcome.REFUSED),
        ("json", 401, b"", Outcome.LATER),
        ("json", 404, b"", Outcome.LATER),
        ("json", 429, b"", Outcome.LATER),
        ("json", 503, b"", Outcome.LATER),
        ("json", 0, b"", Outcome.LATER),
        ("slack", 400, b"invalid_payload", Outcome.REFUSED),
        ("teams", 202, b"", Outcome.TAKEN),
        ("pagerduty", 202, b'{"status":"success"}', Outcome.TAKEN),
        ("dingtalk", 200, b'{"errcode":0,"errmsg":"ok"}', Outcome.TAKEN),
        ("dingtalk", 200, b'{"errcode":310000,"errmsg":"sign not match"}', Outcome.LATER),
        ("dingtalk", 200, b"<html>", Outcome.LATER),
        ("dingtalk", 500, b'{"errcode":0}', Outcome.LATER),
        ("feishu", 200, b'{"code":0}', Outcome.TAKEN),
        ("feishu", 200, b'{"StatusCode":0,"StatusMessage":"success"}', Outcome.TAKEN),
        ("feishu", 200, b'{"code":19021,"msg":"sign match fail"}', Outcome.LATER),
        ("feishu", 200, b"[]", Outcome.LATER),
        ("wecom", 200, b'{"errcode":0}', Outcome.TAKEN),
        ("wecom", 200, b'{"errcode":45009}', Outcome.LATER),
        ("wecom", 200, b'{"errcode":"0"}', Outcome.LATER),
    ],
)
def test_what_an_answer_means(form, status, body, outcome):
    verdict = FORMATS[form].judge(Response(status=status, body=body, problem="" if status else "away"))
    assert verdict.outcome is outcome
    assert bool(verdict.problem) is (outcome is not Outcome.TAKEN)


def test_no_representation_shows_a_secret():
    made = outgoing("json", [good_event()], url=f"https://receiver.example/{SECRET}")
    request = FORMATS["json"].compose(made)
    assert SECRET not in f"{made!r} {request!r} {made.secret} {made.secret!r}"


def test_every_state_has_its_words():
    for language in ("en", "zh"):
        texts = {outgoing("json", [good_event(state=state)], language=language).text.title for state in State}
        assert len(texts) == len(State)
