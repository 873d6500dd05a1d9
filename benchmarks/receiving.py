"""Own the benchmark of the OTLP receiver: spans that another process sends, until the spool has them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from benchmarks.measuring import Figure, timed
from benchmarks.sample import otlp_body, requests
from collectors.otlp.receiver import OtlpReceiver
from exporters.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Sequence

SPANS = 200_000
SPANS_A_BODY = 512  # what OpenTelemetry's batch processor sends at once
RUNS = 3
TARGET_SPANS_PER_CORE = 30_000
_SPOOL_BYTES = 4 << 30
_ROOT = Path(__file__).parents[1]


def figures(folder: Path) -> list[Figure]:
    """Receive `SPANS` over HTTP; a core's worth is this process's own time, without the sender's."""
    sample = list(requests(SPANS, seed=6))
    bodies = [otlp_body(sample[at : at + SPANS_A_BODY]) for at in range(0, SPANS, SPANS_A_BODY)]
    sent = folder / "bodies"
    sent.mkdir()
    for number, body in enumerate(bodies):
        (sent / f"{number:05d}").write_bytes(body)
    parsed = timed(lambda: _parse(bodies), times=RUNS)
    runs = iter(range(RUNS))
    received = timed(lambda: _receive(sent, folder / f"spool{next(runs)}"), times=RUNS)
    spooled = sum(each.stat().st_size for each in (folder / "spool0" / "segments").iterdir())
    speed = SPANS / received.cpu_seconds
    return [
        Figure(
            what="OTLP spans received over HTTP, until the spool has them",
            measured=f"{speed:,.0f} a second a core",
            target=f">= {TARGET_SPANS_PER_CORE:,}",
            met=speed >= TARGET_SPANS_PER_CORE,
            limit="protobuf's parser",
            ratio=parsed.cpu_seconds / received.cpu_seconds,
            rows_per_second=SPANS / received.seconds,
            peak_bytes=received.peak_bytes,
            row_bytes=spooled / SPANS,
        )
    ]


def _parse(bodies: Sequence[bytes]) -> None:
    for body in bodies:
        ExportTraceServiceRequest.FromString(body)


def _receive(bodies: Path, spool_folder: Path) -> None:
    with (
        Spool(spool_folder, limit_bytes=_SPOOL_BYTES) as spool,
        OtlpReceiver(spool.append, grpc_address=None, http_address="127.0.0.1:0") as receiver,
    ):
        subprocess.run(
            [sys.executable, "-m", "benchmarks.sending", str(receiver.http_address), str(bodies)],
            cwd=_ROOT,
            check=True,
        )
