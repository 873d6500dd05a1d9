"""Own the service's life: it answers from the first moment, becomes ready after its warm-up, and ends in order."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import socket
import sys
import time
from typing import TYPE_CHECKING, Any

import uvicorn
from prometheus_client import REGISTRY

from inference_probe.service.gate import Gate
from inference_probe.service.options import read_options
from inference_probe.service.service_metrics import ServiceCollector
from inference_probe.service.settings import engine_settings
from inference_probe.service.stages import Progress, Stage, process_started
from inference_probe.service.telling import TruthTelling
from inference_probe.service.timings import Timings
from inference_probe.service.warm_up import WarmUp, WarmUpFailed, warm_up

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from inference_probe.service.options import Options

_LOOK_SECONDS = 1.0
_ENDED, _FAILED = 0, 2
"""1 says in Fairclock that a promise was broken, so nothing here ends with it."""


class _Server(uvicorn.Server):
    """An HTTP server whose signals are the service's own business."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the handlers as they are; uvicorn's would end the process before the engine has ended."""
        yield


class Service:
    """One run of the service; `code` is what the process ends with."""

    def __init__(self, options: Options, arguments: Namespace) -> None:
        self._options = options
        self._arguments = arguments
        self._progress = Progress(process_started=process_started(), now=time.monotonic())
        self._timings = Timings(options.kept_timings)
        keys = [key for key in (arguments.api_key or [os.environ.get("VLLM_API_KEY", "")]) if key]
        self._api_key = keys[0] if keys else ""
        self._gate = Gate(self._progress, self._timings, api_keys=keys)
        self._engine: Any = None
        self.code = _ENDED
        REGISTRY.register(ServiceCollector(self._progress, self._timings))

    async def run(self, listening: socket.socket) -> None:
        """Serve until a signal, the engine's own end, or a start that fails."""
        server = self._server()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop, server)
        async with contextlib.AsyncExitStack() as open_:
            life = asyncio.create_task(self._live(server, open_))
            await server.serve(sockets=[listening])
            if self._engine is None:
                _leave_at_once(self.code)  # a thread still loads weights and cannot be interrupted
            life.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await life
        await asyncio.to_thread(self._engine.shutdown)

    def _server(self) -> _Server:
        given = self._arguments
        settings = uvicorn.Config(
            self._gate,
            lifespan="off",
            access_log=False,
            log_level=given.uvicorn_log_level,
            timeout_graceful_shutdown=max(1, round(self._options.stop_seconds)),
            ssl_keyfile=given.ssl_keyfile,
            ssl_certfile=given.ssl_certfile,
            ssl_ca_certs=given.ssl_ca_certs,
            ssl_cert_reqs=given.ssl_cert_reqs,
        )
        return _Server(settings)

    def _stop(self, server: _Server) -> None:
        """Take no more requests and let those that run come to their end; asked again, end at once."""
        _say("stopping: no more requests are taken, those that run are answered")
        server.force_exit = server.should_exit
        server.should_exit = True
        self._progress.enter(Stage.STOPPING, now=time.monotonic())

    async def _live(self, server: _Server, open_: contextlib.AsyncExitStack) -> None:
        """Start, warm up, and watch; whatever goes wrong ends the server."""
        try:
            await self._start(open_)
            while not self._engine.errored:  # noqa: ASYNC110 - the engine has nothing to wait for
                await asyncio.sleep(_LOOK_SECONDS)
            _say("the engine has died; look at its messages above")
        except WarmUpFailed as error:
            _say(str(error))
        except Exception as error:  # noqa: BLE001 - whatever vLLM raises: it is said, and the process ends with it
            said = str(error).strip().splitlines() or [""]
            _say(f"the engine did not start ({type(error).__name__}: {said[0][:500]}); look at its messages")
        self.code = _FAILED
        self._progress.enter(Stage.FAILED, now=time.monotonic())
        server.should_exit = True

    async def _start(self, open_: contextlib.AsyncExitStack) -> None:
        from inference_probe.service import engine as vllm_engine  # noqa: PLC0415 - it takes most of a minute

        engine = await asyncio.to_thread(vllm_engine.start_engine, self._arguments)
        self._engine = engine
        self._gate.has_died = lambda: bool(engine.errored)
        app = await open_.enter_async_context(vllm_engine.application(engine, self._arguments))
        telling = TruthTelling(app, self._timings)
        config = engine.vllm_config
        names = self._arguments.served_model_name or [self._arguments.model]
        self._gate.settings = engine_settings(
            config,
            served_names=names,
            options=_given(self._options.engine),
            kept_timings=self._options.kept_timings,
        )
        self._gate.inner = telling
        self._progress.enter(Stage.PROMPTS, now=time.monotonic())
        plan = WarmUp(
            model=names[0],
            context_tokens=config.model_config.max_model_len,
            at_once=config.scheduler_config.max_num_seqs,
            prompts=self._options.prompts,
            has_chat=vllm_engine.has_chat_template(engine, self._arguments),
            api_key=self._api_key,
        )
        await warm_up(telling, plan, self._progress, forget_prefixes=engine.reset_prefix_cache)
        self._progress.enter(Stage.READY, now=time.monotonic())
        stages = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self._progress.seconds.items())
        _say(f"ready ({stages})")


def main(words: Sequence[str]) -> int:
    """Run the service and return the process's exit code: 0 told to end, 2 it failed or the options are wrong."""
    options = read_options(words)
    try:
        from inference_probe.service.engine import read_arguments  # noqa: PLC0415 - vLLM
    except ImportError as error:
        _say(
            f"this Python has no vLLM that the service knows ({error}); install the one that requirements/ names"
        )
        return _FAILED
    arguments = read_arguments(options.engine)
    try:
        listening = _listen(arguments.host or "127.0.0.1", arguments.port)
    except OSError as error:
        _say(f"--host, --port: cannot listen there ({error}); choose another")
        return _FAILED
    service = Service(options, arguments)
    scheme = "https" if arguments.ssl_keyfile else "http"
    host, port = listening.getsockname()[:2]
    _say(f"answering on {scheme}://{f'[{host}]' if ':' in host else host}:{port}; not ready yet")
    import uvloop  # type: ignore[import-not-found]  # noqa: PLC0415 - vLLM brings it, and runs on it

    with listening:
        uvloop.run(service.run(listening))
    return service.code


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    opened = socket.socket(family, kind, protocol)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen(2_048)
    except OSError:
        opened.close()
        raise
    return opened


def _given(words: Sequence[str]) -> dict[str, str]:
    """Return vLLM's options as they were given, by name; an option without a value is set."""
    found: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name, _, value = word.removeprefix("--").partition("=")
            found[name] = value or "set"
        elif name:
            found[name] = word if found[name] == "set" else f"{found[name]} {word}"
    return found


def _leave_at_once(code: int) -> None:
    for child in multiprocessing.active_children():
        child.terminate()
        child.join(_LOOK_SECONDS)
    sys.stderr.flush()
    os._exit(code)


def _say(sentence: str) -> None:
    print(f"fairclock probe serve: {sentence}", file=sys.stderr, flush=True)  # noqa: T201 - it has no logs of its own
