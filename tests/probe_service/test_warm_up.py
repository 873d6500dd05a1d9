"""The warm-up against an application that answers as vLLM does, at speeds of the test's choice."""

import asyncio
import json

import pytest

from inference_probe.service.calling import call
from inference_probe.service.stages import Progress, Stage
from inference_probe.service.warm_up import WarmUp, WarmUpFailed, warm_up


class Model:
    """Takes what is asked of it; `refuses` is a path that answers with an error."""

    def __init__(self, *, refuses=None):
        self.asked = []
        self.running = self.most_at_once = 0
        self.forgotten = 0
        self._refuses = refuses

    async def __call__(self, scope, receive, send):
        content = json.loads((await receive())["body"])
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        if scope["path"] == "/tokenize":
            answer = {"tokens": [ord(each) for each in content["prompt"]]}
        else:
            self.asked.append((scope["path"], content, headers))
            answer = {}
        status = 500 if scope["path"] == self._refuses else 200
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    async def forget(self):
        self.forgotten += 1
        return True

    @property
    def prompts(self):
        return [content["prompt"] for path, content, _ in self.asked if path == "/v1/completions"]

    @property
    def paths(self):
        return {path for path, _, _ in self.asked}


def warmed(model=None, **changes):
    model, progress = model or Model(), Progress(process_started=0.0, now=1.0)
    progress.enter(Stage.PROMPTS, now=2.0)
    plan = WarmUp(**{"model": "tiny", "context_tokens": 4_096, "at_once": 3, **changes})
    asyncio.run(warm_up(model, plan, progress, forget_prefixes=model.forget))
    return model, progress


def test_prompts_of_several_lengths_come_first_and_then_many_at_once():
    model, progress = warmed()
    assert progress.warm_up["prompt_tokens"] == [16, 128, 512, 2_048]
    assert [len(prompt) for prompt in model.prompts[:5]] == [16, 16, 128, 512, 2_048]
    assert model.most_at_once == 6
    assert progress.stage is Stage.LOAD
    assert progress.warm_up["requests"] == len(model.asked)
    assert 2 <= len(progress.warm_up["load_rounds_seconds"]) <= 6


@pytest.mark.parametrize(
    ("context", "lengths"),
    [
        pytest.param(2_048, [16, 128, 512, 2_016], id="room for all but the answer"),
        pytest.param(100, [16, 68], id="a small model"),
        pytest.param(20, [1], id="hardly any room"),
    ],
)
def test_no_prompt_is_longer_than_the_model_takes(context, lengths):
    assert warmed(context_tokens=context)[1].warm_up["prompt_tokens"] == lengths


def test_typical_prompts_of_a_file_are_asked_as_they_are():
    model, _ = warmed(prompts=("ab", "cde"))
    assert model.prompts[1:3] == [[97, 98], [99, 100, 101]]


def test_the_last_request_is_the_first_again_and_nothing_of_it_is_found_in_a_cache():
    model, progress = warmed()
    assert model.prompts[0] == model.prompts[-1]
    assert model.forgotten == 2
    assert {"first_request_seconds", "warm_request_seconds", "is_steady"} <= set(progress.warm_up)


def test_a_model_without_a_chat_template_is_asked_for_completions_only():
    assert warmed()[0].paths == {"/v1/completions", "/v1/chat/completions"}
    assert warmed(has_chat=False)[0].paths == {"/v1/completions"}


def test_its_requests_bear_ids_that_tell_them_from_measured_ones_and_the_key():
    model, _ = warmed(api_key="k")
    assert all(headers["x-request-id"].startswith("fairclock-warm-up-") for *_, headers in model.asked)
    assert len({headers["x-request-id"] for *_, headers in model.asked}) == len(model.asked)
    assert {headers["authorization"] for *_, headers in model.asked} == {"Bearer k"}


@pytest.mark.parametrize("path", ["/tokenize", "/v1/completions", "/v1/chat/completions"])
def test_a_model_that_does_not_answer_never_becomes_ready(path):
    with pytest.raises(WarmUpFailed, match=f"warm-up: {path} answered 500"):
        warmed(Model(refuses=path))


def test_a_call_reads_an_answer_to_its_end_and_waits_as_a_client_that_stays():
    async def app(scope, receive, send):
        assert await receive() == {"type": "http.request", "body": b'{"a": 1}', "more_body": False}
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(receive(), timeout=0)
        await send({"type": "http.response.start", "status": 418, "headers": []})
        await send({"type": "http.response.body", "body": b"te", "more_body": True})
        await send({"type": "http.response.body", "body": b"a"})

    called = asyncio.run(call(app, "/x", {"a": 1}, {}))
    assert (called.status, called.body) == (418, b"tea")
