"""Own a service that answers as it is told, byte by byte, on a real port, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading


def sse(*events, done=True):
    """The bytes of a stream's body."""
    lines = b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in events)
    return lines + (b"data: [DONE]\n\n" if done else b"")


def chat_stream(tokens=3, *, truth=None):
    events = [
        {"choices": [{"delta": {"role": "assistant", "content": ""}}], "usage": {"completion_tokens": 0}}
    ]
    events += [
        {"choices": [{"delta": {"content": "w "}}], "usage": {"completion_tokens": count}}
        for count in range(1, tokens + 1)
    ]
    events += [
        {"choices": [{"delta": {}, "finish_reason": "length"}], "usage": {"completion_tokens": tokens}}
    ]
    events += [{"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": tokens}}]
    body = sse(*events, done=False)
    if truth is not None:
        body += b"event: fairclock\ndata: " + json.dumps(truth).encode() + b"\n\n"
    return body + b"data: [DONE]\n\n"


def answer(body=None, *, status="200 OK", headers=b"", length=None):
    content = chat_stream() if body is None else body
    size = len(content) if length is None else length
    return b"HTTP/1.1 %b\r\n%bContent-Length: %d\r\n\r\n" % (status.encode(), headers, size) + content


# the client went, or the block is left
ENDED = contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError)


class Service:
    """`answers(request)` is an async generator of bytes to send; None ends the connection. `requests`: (headers, body) that came."""

    def __init__(self, answers):
        self._answers = answers
        self.requests = []
        self.connections = 0

    async def _client(self, reader, writer):
        self.connections += 1
        with ENDED, contextlib.closing(writer):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                headers = {
                    name.lower(): value
                    for name, _, value in (line.partition(": ") for line in head.split("\r\n"))
                }
                body = json.loads(await reader.readexactly(int(headers["content-length"])))
                self.requests.append((headers, body))
                async for piece in self._answers(headers, body):
                    if piece is None:
                        return
                    writer.write(piece)
                    await writer.drain()


@contextlib.contextmanager
def serving(answers, *, tls=None):
    """Run a service until the block is left, and nobody listens at its address any more; gives it, with its `url`."""
    service = Service(answers)
    loop = asyncio.new_event_loop()
    ready = threading.Event()

    async def main():
        server = await asyncio.start_server(service._client, "127.0.0.1", 0, backlog=512, ssl=tls)
        service.url = f"http{'s' if tls else ''}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready.set()
        return server

    def forever():
        asyncio.set_event_loop(loop)
        begun = loop.create_task(main())
        loop.run_forever()
        begun.result().close()  # a loop that is closed leaves its sockets listening until they are collected
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.gather(*asyncio.all_tasks(loop), return_exceptions=True))
        loop.close()

    thread = threading.Thread(target=forever)
    service.call = loop.call_soon_threadsafe
    thread.start()
    ready.wait()
    try:
        yield service
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


async def plainly(headers, body):
    """Answer a chat at once, with as many tokens as were asked for."""
    yield answer(chat_stream(body["max_tokens"]))
