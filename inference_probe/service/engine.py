"""Own vLLM: its engine in this process, watched request by request, and its OpenAI-compatible application around it.

The one module that imports vLLM. Its serving code is the one that ``vllm serve`` runs, so that a probe is answered as a
customer is.
"""

from __future__ import annotations

import contextlib
from argparse import ArgumentTypeError, Namespace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.entrypoints.launchers.api_server.app_state import init_app_state
from vllm.entrypoints.launchers.app import build_app
from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.entrypoints.serve.utils.api_utils import cli_env_setup
from vllm.sampling_params import RequestOutputKind
from vllm.usage.usage_lib import UsageContext
from vllm.utils.argparse_utils import FlexibleArgumentParser
from vllm.v1.engine.async_llm import AsyncLLM

from inference_probe.service.failures import failure
from inference_probe.service.observation import current_exchange

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

    from inference_probe.service.observation import EngineRequest


class ObservedLLM(AsyncLLM):  # type: ignore[misc]  # what vLLM is, is known only inside vLLM
    """The engine, with every output of a request noted in the exchange that it is made for."""

    def generate(
        self, prompt: Any, sampling_params: Any, request_id: str, **others: Any
    ) -> AsyncGenerator[Any, None]:
        """Generate as vLLM does."""
        outputs: AsyncGenerator[Any, None] = super().generate(prompt, sampling_params, request_id, **others)
        exchange = current_exchange.get()
        if exchange is None:
            return outputs
        noted = exchange.begin(
            request_id,
            sequences=sampling_params.n or 1,
            is_delta=sampling_params.output_kind == RequestOutputKind.DELTA,
        )
        return _noting(outputs, noted)

    async def abort(self, request_id: Any, internal: bool = False) -> None:  # noqa: FBT001, FBT002 - vLLM's signature
        """Abort as vLLM does, which forgets a request's state: what it reached is noted before."""
        ids = [request_id] if isinstance(request_id, str) else list(request_id)
        exchange = current_exchange.get()
        if exchange is not None:
            for state in (self.output_processor.request_states.get(each) for each in ids):
                if state is not None:
                    exchange.note_abort(state.external_req_id, state.stats, prompt_tokens=state.prompt_len)
        await super().abort(ids, internal=internal)


async def _noting(outputs: AsyncGenerator[Any, None], noted: EngineRequest) -> AsyncGenerator[Any, None]:
    async with contextlib.aclosing(outputs):
        async for output in outputs:
            noted.note(output)
            yield output


def read_arguments(words: Sequence[str]) -> Namespace:
    """Read vLLM's own options; ends the program where they are wrong, as its parser does, and refuses what hides the truth."""
    cli_env_setup()
    parser = make_arg_parser(FlexibleArgumentParser(prog="fairclock probe serve", allow_abbrev=False))
    arguments: Namespace = parser.parse_args(list(words))
    try:
        validate_parsed_serve_args(arguments)
    except (TypeError, ValueError, ArgumentTypeError) as error:
        parser.error(str(error))
    if arguments.disable_log_stats:
        parser.error("--disable-log-stats: the engine then keeps no times of its requests; leave it out")
    if (arguments.api_server_count or 1) > 1 or arguments.headless or arguments.uds:
        parser.error(
            "--api-server-count, --headless, --uds: the service is one process on one port; leave them out"
        )
    # cached tokens are part of the truth, and an answer may say them as well
    arguments.enable_prompt_tokens_details = True
    arguments.enable_request_id_headers = False
    return arguments


def start_engine(arguments: Namespace) -> ObservedLLM:
    """Start the engine and wait until it has its weights and its KV cache; minutes for a large model."""
    engine_arguments = AsyncEngineArgs.from_cli_args(arguments)
    config = engine_arguments.create_engine_config(usage_context=UsageContext.OPENAI_API_SERVER)
    engine: ObservedLLM = ObservedLLM.from_vllm_config(
        vllm_config=config,
        usage_context=UsageContext.OPENAI_API_SERVER,
        enable_log_requests=engine_arguments.enable_log_requests,
        aggregate_engine_logging=engine_arguments.aggregate_engine_logging,
        disable_log_stats=False,
    )
    return engine


@contextlib.asynccontextmanager
async def application(engine: ObservedLLM, arguments: Namespace) -> AsyncIterator[ASGIApp]:
    """Hold vLLM's own HTTP application in front of the engine."""
    tasks = await engine.get_supported_tasks()
    app = build_app(arguments, tasks, engine.model_config)
    await init_app_state(engine, app.state, arguments, tasks)
    # what has no route is raised by Starlette, whose exception vLLM leaves in a shape of its own
    app.add_exception_handler(HTTPException, _unrouted)
    app.middleware_stack = app.build_middleware_stack()  # vLLM has built it already, without that handler
    await engine.reset_mm_cache()
    async with app.router.lifespan_context(app):
        yield app


async def _unrouted(request: Request, error: HTTPException) -> Response:
    return failure(
        HTTPStatus(error.status_code), f"{request.url.path}: {error.detail}", headers=error.headers
    )


def has_chat_template(engine: ObservedLLM, arguments: Namespace) -> bool:
    """Return whether the model can be asked as a chat."""
    tokenizer = engine.renderer.tokenizer
    return bool(arguments.chat_template or getattr(tokenizer, "chat_template", None))
