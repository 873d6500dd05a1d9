"""Own OTLP over gRPC: ``TraceService/Export`` and ``LogsService/Export``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NoReturn

import grpc

from collectors.otlp.addresses import Address, bind
from collectors.otlp.answers import RETRY_AFTER_SECONDS, Code, ContentType, Signal, code_of, failure, success
from collectors.otlp.bodies import LARGEST_BODY_BYTES
from collectors.otlp.problems import RequestProblem
from collectors.otlp.protobuf import decode_protobuf
from collectors.otlp.protobuf_logs import decode_log_protobuf
from fairclock.errors import FairclockError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from collectors.otlp.engine_lines import EngineLines

_TRACES = "opentelemetry.proto.collector.trace.v1.TraceService"
_LOGS = "opentelemetry.proto.collector.logs.v1.LogsService"
_THREADS = 64  # each waits for the store; the more wait, the larger the next batch
_MOST_AT_ONCE = 256
_GRACE_SECONDS = 5
_STATUS_CODES = {
    Code.RESOURCE_EXHAUSTED: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Code.UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
}


class GrpcServer:
    """Listen on `address`; `commit` blocks until the lines are safe and returns the rejected count.

    Raises `UsageError` where the address is taken.
    """

    def __init__(self, commit: Callable[[EngineLines], int], address: Address, *, option: str) -> None:
        self._commit = commit
        self._server = grpc.server(
            ThreadPoolExecutor(_THREADS, thread_name_prefix="otlp-grpc"),
            options=[
                (
                    "grpc.so_reuseport",
                    0,
                ),  # else a second receiver on the port takes half of the spans, unseen
                ("grpc.max_receive_message_length", LARGEST_BODY_BYTES),
            ],
            maximum_concurrent_rpcs=_MOST_AT_ONCE,
        )
        # Bytes in, bytes out: a span that protobuf's parser refuses must not cost its request.
        for service, export in ((_TRACES, self._export_traces), (_LOGS, self._export_logs)):
            handlers = {"Export": grpc.unary_unary_rpc_method_handler(export)}
            self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
        if address.port:
            bind(address, option=option).close()  # says why not, where gRPC says only that
        try:
            port = self._server.add_insecure_port(str(address))
        except RuntimeError as error:
            raise UsageError(
                option, f"cannot listen on {address}", remedy="choose another address"
            ) from error
        self.address = Address(host=address.host, port=port)

    def start(self) -> None:
        """Begin to answer."""
        self._server.start()

    def stop(self) -> None:
        """Answer what was begun, then close."""
        self._server.stop(_GRACE_SECONDS).wait()

    def _export_traces(self, body: bytes, context: grpc.ServicerContext) -> bytes:
        return self._export(body, context, decode_protobuf, Signal.TRACES)

    def _export_logs(self, body: bytes, context: grpc.ServicerContext) -> bytes:
        return self._export(body, context, decode_log_protobuf, Signal.LOGS)

    def _export(
        self,
        body: bytes,
        context: grpc.ServicerContext,
        decode: Callable[[bytes], EngineLines],
        signal: Signal,
    ) -> bytes:
        try:
            rejected = self._commit(decode(body))
        except RequestProblem as problem:
            _abort(context, grpc.StatusCode.INVALID_ARGUMENT, str(problem))
        except FairclockError as error:
            _abort_for_now(context, error)
        return success(ContentType.PROTOBUF, rejected=rejected, signal=signal)


def _abort_for_now(context: grpc.ServicerContext, error: FairclockError) -> NoReturn:
    """Say when to send again: without that, RESOURCE_EXHAUSTED means never.

    See https://opentelemetry.io/docs/specs/otlp/#failures.
    """
    code = code_of(error)
    status = failure(ContentType.PROTOBUF, code, str(error), retry_after_seconds=RETRY_AFTER_SECONDS)
    context.set_trailing_metadata((("grpc-status-details-bin", status),))
    _abort(context, _STATUS_CODES[code], str(error))


def _abort(context: grpc.ServicerContext, code: grpc.StatusCode, details: str) -> NoReturn:
    context.abort(code, details)
    raise AssertionError("abort raises")
