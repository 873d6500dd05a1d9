"""Own one probe on the wire: sent when its time comes, each mark given its instant, and what came of it by class."""

from __future__ import annotations

import asyncio
import errno
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from fairclock.model.probes import ProbeOutcome
from inference_probe.prober.http_answers import HttpAnswer, NotHttp
from inference_probe.prober.observations import Observation, on_the_runs_clock
from inference_probe.prober.token_streams import Tokens, TokenStream

if TYPE_CHECKING:
    from collections.abc import Callable

    from inference_probe.prober.connections import Connection, Connections

_OK, _REDIRECT, _TOO_MANY, _UNAVAILABLE, _GATEWAY_TIMEOUT, _SERVER = 200, 300, 429, 503, 504, 500
_OWN_LIMITS = frozenset({errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.ENOBUFS, errno.ENOMEM})
"""Errors of a connection that are the prober's machine's own: the service never heard of the probe."""


_CLOSING_SECONDS = 0.5
"""How soon after sending the end of a connection that was open is seen, where it had ended before: a way there and back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One probe as it will be sent: its bytes are made before its time, so that making them delays nothing.

    cancel_seconds: when the prober leaves, after it has sent it; None: it stays.
    judge: what the answer's text is worth, where that is looked at; it returns some of an observation's values.
    """

    number: int
    request_id: str
    trace_id: str
    request: bytes
    streams: bool
    timeout_seconds: float
    cancel_seconds: float | None = None
    judge: Callable[[str], dict[str, Any]] | None = None
    stage: int = 0
    version: str = ""
    inference_mode: str = ""


class Asks(Protocol):
    """Whatever asks: a prober over sockets, or one that only says what it would have seen."""

    async def ask(self, question: Question, *, started: float, intended: float) -> Observation:
        """Ask now, and return what was seen; instants are the loop's, less `started`."""


@dataclass(slots=True, kw_only=True)
class _Marks:
    sent: float
    connected: float | None = None
    secured: float | None = None
    first_byte: float | None = None
    done: float | None = None


class Asker:
    """Ask over sockets."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def ask(self, question: Question, *, started: float, intended: float) -> Observation:
        """Ask now; the time that it may take counts from `intended`, like every latency."""
        loop = asyncio.get_running_loop()
        exchange = _Exchange(question, self._connections, loop)
        limit = intended + question.timeout_seconds
        leaves = question.cancel_seconds is not None and exchange.marks.sent + question.cancel_seconds < limit
        until = exchange.marks.sent + (question.cancel_seconds or 0.0) if leaves else limit
        try:
            async with asyncio.timeout_at(until):
                outcome, error = await exchange.run()
        except TimeoutError:
            outcome = ProbeOutcome.ABORTED if leaves else ProbeOutcome.TIMEOUT
            error = f"left:{exchange.place}" if leaves else f"timeout:{exchange.place}"
        except asyncio.CancelledError:
            outcome, error = ProbeOutcome.ABORTED, f"stopped:{exchange.place}"
        finally:
            exchange.drop()
        return exchange.observation(outcome, error, started=started, intended=intended)


class _Exchange:
    """One question and its answer."""

    def __init__(self, question: Question, connections: Connections, loop: asyncio.AbstractEventLoop) -> None:
        self.marks = _Marks(sent=loop.time())
        self.place = "connecting"
        self._question = question
        self._connections = connections
        self._loop = loop
        self._connection: Connection | None = None
        self._is_again = False
        self._begin()

    def _begin(self) -> None:
        self._stream = TokenStream(
            streams=self._question.streams, keeps_text=self._question.judge is not None
        )
        self._answer = HttpAnswer(self._body)
        self._over: asyncio.Future[str] = self._loop.create_future()
        self._at = 0.0

    async def run(self) -> tuple[ProbeOutcome, str | None]:
        """Send, wait, and say what came of it."""
        used = self._connections.idle()
        for attempt in ("open", "new"):
            self._connection = used if attempt == "open" else None
            if attempt == "open" and used is None:
                continue
            if self._connection is None:
                try:
                    await self._connect()
                except OSError as error:
                    return _unconnected(error)
            problem = await self._exchange()
            if attempt == "open" and problem and self.marks.first_byte is None and self._was_closing():
                self._is_again = True
                self.drop()
                self._begin()
                continue
            return self._judged(problem)
        raise AssertionError("the second attempt always returns")

    def _was_closing(self) -> bool:
        """Say whether the connection was being closed while we sent: what broke later was being answered, and failed."""
        return self._loop.time() - self.marks.sent < _CLOSING_SECONDS

    async def _connect(self) -> None:
        self.place = "connecting"
        self._connection, self.marks.secured = await self._connections.open(self._connected)

    def _connected(self, at: float) -> None:
        self.marks.connected = at
        self.place = "securing"

    async def _exchange(self) -> str:
        """Return what went wrong with the connection; empty where the answer is whole."""
        assert self._connection is not None  # noqa: S101 - run opens it
        self.place = "first byte"
        self._connection.send(self._question.request, take=self._take, over=self._broken)
        return await self._over

    def _take(self, data: bytes, at: float) -> None:
        self._at = at
        if self.marks.first_byte is None:
            self.marks.first_byte = at
            self.place = "answer"
        try:
            self._answer.feed(data)
        except NotHttp as error:
            self._end(f"not HTTP: {error}")
            return
        if self._answer.is_whole:
            self._end("")

    def _body(self, data: bytes) -> None:
        self._stream.take(data, self._at)

    def _broken(self) -> None:
        self._at = self._loop.time()
        self._answer.end()
        self._end("" if self._answer.is_whole else "connection broke")

    def _end(self, problem: str) -> None:
        if not self._over.done():
            if not problem:
                self.marks.done = self._at
            self._over.set_result(problem)

    def _judged(self, problem: str) -> tuple[ProbeOutcome, str | None]:
        if not problem and self._connection is not None and self._answer.keeps_open:
            self._connections.give_back(self._connection)
            self._connection = None
        status = self._answer.status
        if status is None:
            return ProbeOutcome.UNREACHABLE, problem
        if not _OK <= status < _REDIRECT:
            return _refused(status), f"http:{status}"
        if problem:
            return ProbeOutcome.INCOMPLETE, problem
        self._stream.end()
        return _answered(self._stream.tokens)

    def drop(self) -> None:
        """Break the connection off where the answer is not whole."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def observation(
        self, outcome: ProbeOutcome, error: str | None, *, started: float, intended: float
    ) -> Observation:
        """Return what was seen, on the run's clock."""
        question, marks, tokens = self._question, self.marks, self._stream.tokens

        def since(instant: float | None) -> float | None:
            return None if instant is None else on_the_runs_clock(instant, started)

        judged = question.judge(tokens.text) if question.judge and outcome is ProbeOutcome.OK else {}
        is_unsent = outcome is ProbeOutcome.NOT_SENT
        return Observation(
            number=question.number,
            request_id=question.request_id,
            trace_id=question.trace_id,
            intended=on_the_runs_clock(intended, started),
            sent=None if is_unsent else since(marks.sent),
            connected=since(marks.connected),
            secured=since(marks.secured),
            first_byte=since(marks.first_byte),
            first_token=since(tokens.first_token),
            first_reasoning_token=since(tokens.first_reasoning_token),
            last_token=since(tokens.last_content),
            tokens=tuple(on_the_runs_clock(each, started) for each in tokens.instants),
            done=since(marks.done),
            outcome=outcome,
            status=self._answer.status,
            error=error,
            prompt_tokens=tokens.prompt_tokens,
            cached_tokens=tokens.cached_tokens,
            completion_tokens=tokens.completion_tokens,
            finish_reason=tokens.finish_reason,
            truth=tokens.truth,
            stage=question.stage,
            version=question.version,
            inference_mode=self._answer.headers.get("x-inference-mode", "")[:80] or question.inference_mode,
            again=self._is_again,
            **judged,
        )


def _refused(status: int) -> ProbeOutcome:
    if status == _TOO_MANY:
        return ProbeOutcome.QUOTA_REJECTED
    if status == _UNAVAILABLE:
        return ProbeOutcome.CAPACITY_REJECTED
    if status == _GATEWAY_TIMEOUT:
        return ProbeOutcome.TIMEOUT
    return ProbeOutcome.SERVER_ERROR if status >= _SERVER else ProbeOutcome.CLIENT_ERROR


def _answered(tokens: Tokens) -> tuple[ProbeOutcome, str | None]:
    """Judge an answer with a good status whose bytes are whole."""
    if tokens.error:
        return ProbeOutcome.INCOMPLETE, f"error in the answer: {tokens.error}"
    if tokens.is_nonsense:
        return ProbeOutcome.WRONG_ANSWER, "not an OpenAI-compatible answer"
    if not tokens.is_finished:
        return ProbeOutcome.INCOMPLETE, "it does not say that it ended"
    return ProbeOutcome.OK, None


def _unconnected(error: OSError) -> tuple[ProbeOutcome, str]:
    if error.errno in _OWN_LIMITS:
        return ProbeOutcome.NOT_SENT, f"prober: {errno.errorcode.get(error.errno or 0, 'limit')}"
    if isinstance(error, ssl.SSLError):
        return ProbeOutcome.UNREACHABLE, f"TLS: {error.reason or 'failed'}"
    return ProbeOutcome.UNREACHABLE, f"connect: {errno.errorcode.get(error.errno or 0, type(error).__name__)}"
