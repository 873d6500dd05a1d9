"""An application that answers as vLLM does, its engine's outputs, and a client that reads answers in pieces."""

import asyncio
import json
from types import SimpleNamespace

from inference_probe.service.observation import current_exchange

MARKS = SimpleNamespace(
    queued_ts=101.0,
    scheduled_ts=103.0,
    first_token_ts=104.5,
    last_token_ts=107.0,
    num_generation_tokens=5,
    num_preemptions=1,
)


def state(**changes):
    return SimpleNamespace(**{**vars(MARKS), **changes})


def output(*, tokens=(1,), finished=False, reason=None, index=0, metrics=MARKS, prompt=(1, 2, 3), cached=2):
    completion = SimpleNamespace(index=index, token_ids=list(tokens), finish_reason=reason)
    return SimpleNamespace(
        metrics=metrics,
        prompt_token_ids=None if prompt is None else list(prompt),
        num_cached_tokens=cached,
        outputs=[completion],
        finished=finished,
    )


def application(*pieces, content_type="application/json", status=200, outputs=(), leaves=False):
    """An ASGI application that makes one request to the engine and sends `pieces`; `leaves` is a client that does not stay."""

    async def app(scope, receive, send):
        app.headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        if outputs:
            noted = current_exchange.get().begin("cmpl-a-0", sequences=1, is_delta=True)
            for each in outputs:
                noted.note(each)
        length = str(sum(map(len, pieces)))
        headers = [(b"content-type", content_type.encode()), (b"content-length", length.encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if not leaves:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    return app


def ask(app, path="/v1/completions", *, method="POST", left=False, **headers):
    """Return status, headers and the pieces of the body; `left` is a client that is gone when it is looked for."""
    sent = []

    async def receive():
        return (
            {"type": "http.disconnect"}
            if left
            else {"type": "http.request", "body": b"{}", "more_body": False}
        )

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "headers": [
            (name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()
        ],
    }
    asyncio.run(app(scope, receive, send))
    start, *bodies = sent
    answered = {name.decode(): value.decode() for name, value in start["headers"]}
    return start["status"], answered, [message["body"] for message in bodies]


def said(pieces):
    """The truth in an answer's body or a stream's last event but one."""
    body = b"".join(pieces)
    if body.startswith(b"{"):
        return json.loads(body)["fairclock"]
    *_, event, done = body.strip().split(b"\n\n")
    assert done == b"data: [DONE]"
    kind, data = event.split(b"\n")
    assert kind == b"event: fairclock"
    return json.loads(data.removeprefix(b"data: "))
