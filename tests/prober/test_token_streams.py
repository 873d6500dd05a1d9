"""When tokens came, and how many: by the service's own count, never by its chunks."""

from __future__ import annotations

import json

import pytest

from inference_probe.prober.token_streams import TokenStream
from tests.prober.servers import chat_stream, sse


def content(text, count=None, **delta):
    chunk = {"choices": [{"delta": {"content": text, **delta}}]}
    return chunk if count is None else chunk | {"usage": {"completion_tokens": count}}


def read(*pieces, streams=True, **kind):
    stream = TokenStream(streams=streams, **kind)
    for at, piece in enumerate(pieces, start=1):
        stream.take(piece, float(at))
    stream.end()
    return stream.tokens


ROLE = {"choices": [{"delta": {"role": "assistant", "content": ""}}]}


@pytest.mark.parametrize(
    ("events", "first", "reasoning", "instants", "completion"),
    [
        pytest.param([ROLE, content("", 1), content("a", 2)], 3.0, None, [2.0, 3.0], 2, id="an empty token is counted and is not the first"),
        pytest.param([ROLE, content("ab", 2), content("c", 3)], 2.0, None, [2.0, 2.0, 3.0], 3, id="two tokens in one chunk have one instant"),
        pytest.param([ROLE, content("", 1, reasoning="hm"), content("a", 2)], 3.0, 2.0, [2.0, 3.0], 2, id="reasoning is apart"),
        pytest.param([ROLE, content("", 1, reasoning_content="hm"), content("a", 2)], 3.0, 2.0, [2.0, 3.0], 2, id="reasoning by its older name"),
        pytest.param([ROLE, content(None, 1, tool_calls=[{"index": 0}])], 2.0, None, [2.0], 1, id="a tool call is an answer"),
        pytest.param([ROLE, content("a"), content("b"), {"choices": [], "usage": {"completion_tokens": 5}}], 2.0, None, [], 5, id="a sum at the end gives no token an instant"),
        pytest.param([ROLE, content("a"), content("b", 5)], 2.0, None, [], 5, id="a sum with the last text gives none either"),
        pytest.param([ROLE, content("a", 1), content("b", 1)], 2.0, None, [2.0], 1, id="a chunk that the count passes over is no token"),
        pytest.param([{"choices": [{"text": "a"}], "usage": {"completion_tokens": 1}}], 1.0, None, [1.0], 1, id="completions have texts"),
        pytest.param([ROLE, content(""), content(""), content("b", 3)], 4.0, None, [], 3, id="a count that begins after tokens that are no text gives none an instant"),
        pytest.param([ROLE, content("a"), {"usage": {"completion_tokens": 1}}], 2.0, None, [], 1, id="a sum without choices is a sum"),
        pytest.param([ROLE | {"usage": None}, content("a") | {"usage": None}, content("b", 2)], 2.0, None, [], 2, id="a usage of null is none"),
        pytest.param([ROLE, content("a", 1 << 40), content("b", 2)], 2.0, None, [], 2, id="a count that no column holds is none"),
        pytest.param([ROLE, content("a", 1), content("b", 2_000_000)], 2.0, None, [], 2_000_000, id="a count of more than can be asked for gives none an instant"),
        pytest.param([ROLE], None, None, [], None, id="a role alone is nothing"),
    ],
)  # fmt: skip
def test_tokens_of_a_stream(events, first, reasoning, instants, completion):
    found = read(*(sse(each, done=False) for each in events), b"data: [DONE]\n\n")
    assert (found.first_token, found.first_reasoning_token, found.instants) == (first, reasoning, instants)
    assert (found.completion_tokens, found.is_finished) == (completion, True)


def test_a_stream_reads_alike_however_it_is_cut():
    body = chat_stream(4, truth={"schema": "fairclock.truth/1", "queued": 1.5})
    whole = read(body)
    cut = read(*(body[at : at + 7] for at in range(0, len(body), 7)))
    assert (whole.completion_tokens, whole.prompt_tokens, len(whole.instants)) == (4, 9, 4)
    assert (cut.completion_tokens, cut.prompt_tokens, len(cut.instants), cut.truth) == (4, 9, 4, whole.truth)
    assert whole.truth == {"schema": "fairclock.truth/1", "queued": 1.5}


def test_a_whole_answer_has_tokens_without_instants_and_its_truth():
    said = {
        "choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 4, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 0}},
        "fairclock": {"queued": 2.0},
    }
    found = read(json.dumps(said).encode(), streams=False)
    assert (found.prompt_tokens, found.completion_tokens, found.cached_tokens) == (4, 0, 0)
    assert (found.first_token, found.instants, found.truth, found.is_finished) == (
        None,
        [],
        {"queued": 2.0},
        True,
    )


@pytest.mark.parametrize(
    ("body", "streams"),
    [
        pytest.param(b"data: {broken\n\n", True, id="a line that is no JSON"),
        pytest.param(b"data: [1]\n\n", True, id="a line that is no object"),
        pytest.param(b"<html>", False, id="a page instead of an answer"),
        pytest.param(b'data: {"id": 1}\n\n', True, id="an object without choices"),
        pytest.param(b'data: {"choices": [{"delta": "x"}]}\n\n', True, id="a delta that is no object"),
        pytest.param(b"data: [DONE]\n\n", True, id="an end of nothing"),
        pytest.param(b"", True, id="a good status and nothing else"),
        pytest.param(b'data: {"choices": []}\n\ndata: [DONE]\n\n', True, id="chunks without a choice"),
        pytest.param(b'{"choices": []}', False, id="a whole answer without a choice"),
    ],
)
def test_nonsense_is_noticed(body, streams):
    assert read(body, streams=streams).is_nonsense


def test_an_error_in_a_stream_is_a_class_and_never_its_message():
    found = read(
        sse({"error": {"message": "cannot answer 'my secret prompt'", "type": "server_error"}}, done=False)
    )
    assert (found.error, found.is_finished) == ("server_error", False)


def test_text_is_kept_only_where_it_is_to_be_judged():
    assert read(chat_stream(2)).text == ""
    assert read(chat_stream(2), keeps_text=True).text == "w w "


FOUR = [ROLE, content("é", 1), content("b", 2), {"choices": [{"delta": {}, "finish_reason": "stop"}]}]


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(lambda text: f"data: {text}\r\n\r\n", id="lines end as HTTP's do"),
        pytest.param(lambda text: f": wait\n\ndata:{text}\n\n", id="comments between, and no space"),
        pytest.param(lambda text: "data: " + text.replace(", ", ",\ndata: ") + "\n\n", id="an object over several lines"),
        pytest.param(lambda text: f"data: {text}\n", id="no empty line between events"),
        pytest.param(lambda text: f"id: 1\nevent: message\nretry: 9\ndata: {text}\n\n", id="other fields"),
    ],
)  # fmt: skip
def test_events_are_read_however_they_are_written_and_cut(written):
    body = "".join(written(json.dumps(each, ensure_ascii=False)) for each in FOUR).encode()
    body += b"data: [DONE]"  # the end of a body ends its last line
    for size in (1, 3, len(body)):  # within a character too
        found = read(*(body[at : at + size] for at in range(0, len(body), size)), keeps_text=True)
        assert (found.text, found.completion_tokens, len(found.instants)) == ("éb", 2, 2)
        assert (found.finish_reason, found.is_finished, found.is_nonsense) == ("stop", True, False)


def test_what_a_service_says_of_itself_is_kept_as_far_as_it_can_be_written():
    said = b'{"choices": [{"delta": {"content": "a"}, "finish_reason": "st\\ud800op"}], "fairclock": {"queued": 1.5, "x": NaN, "y": 1e999,'
    said += b' "z": 1' + b"0" * 400 + b', "deep": {"a": 1}, "name": "n\\udc00", "none": null}}'
    found = read(b"data: " + said + b"\n\n")
    assert found.truth == {"queued": 1.5, "name": "n?", "none": None}
    assert found.finish_reason == "st?op"
