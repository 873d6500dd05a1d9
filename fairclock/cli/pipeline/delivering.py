"""Own what empties the spool: a writer into the store, or a forwarder to another Fairclock."""

from __future__ import annotations

import os
import random
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fairclock.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from collectors.gateway.configuration import GatewaySection
    from exporters.clickhouse import Writer
    from exporters.forwarding.configuration import ForwardSection
    from exporters.forwarding.forwarder import Forwarder
    from exporters.spool import Spool
    from fairclock.cli.pipeline.store_link import StoreLink

TOKEN_VARIABLE = "FAIRCLOCK_TOKEN"  # noqa: S105 - its name, not its value
_NS_PER_US = 1_000


@contextmanager
def writing(spool: Spool, link: StoreLink, gateway: GatewaySection) -> Iterator[Writer]:
    """Write what the spool holds into the store; raises `ConfigurationError` where tenants cannot be told."""
    from collectors.gpu.lines import FORMAT as GPU_FORMAT  # noqa: PLC0415
    from collectors.gpu.lines import batches_of  # noqa: PLC0415
    from collectors.otlp.committing import FORMAT as ENGINE_FORMAT  # noqa: PLC0415
    from collectors.otlp.engine_states import STATE_FORMAT, state_batches  # noqa: PLC0415
    from collectors.vllm_metrics.adapting import lines_of_scrape  # noqa: PLC0415
    from collectors.vllm_metrics.frames import FORMAT as METRICS_FORMAT  # noqa: PLC0415
    from exporters.clickhouse import Writer, lines_of  # noqa: PLC0415
    from fairclock.cli.pipeline.adapting import Adapters  # noqa: PLC0415

    adapters = Adapters(
        gateway,
        {
            ENGINE_FORMAT: lines_of,
            STATE_FORMAT: state_batches,
            METRICS_FORMAT: lines_of_scrape,
            GPU_FORMAT: batches_of,
        },
    )
    writer = Writer(spool, link.shared, adapters=adapters)
    writer.start()
    try:
        yield writer
    finally:
        writer.stop()


@contextmanager
def forwarding(spool: Spool, section: ForwardSection) -> Iterator[Forwarder]:
    """Forward what the spool holds; raises `UsageError` and `ConfigurationError` before anything is sent."""
    from exporters.forwarding.destination import Destination  # noqa: PLC0415 - httpx takes a while to load
    from exporters.forwarding.forwarder import Forwarder  # noqa: PLC0415
    from exporters.forwarding.url import check_url  # noqa: PLC0415

    url = check_url(section.to or "", plain_http=section.plain_http)
    destination = Destination(url, token=_token_of(section), ca=section.ca)
    forwarder = Forwarder(
        spool,
        destination,
        monotonic=time.monotonic,
        now_us=lambda: time.time_ns() // _NS_PER_US,
        random=random.random,
    )
    forwarder.start()
    try:
        yield forwarder
    finally:
        forwarder.stop()
        destination.close()


def _token_of(section: ForwardSection) -> Callable[[], str]:
    from exporters.forwarding.destination import read_token  # noqa: PLC0415

    path = section.token_file
    if path is not None:
        read_token(path)  # a path that is wrong is told now
        return lambda: read_token(path)
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token:
        raise UsageError(
            "--to",
            "needs a token",
            remedy=f"make one with fairclock tokens create --scope collector, and name its file with --token-file "
            f"or put it into {TOKEN_VARIABLE}",
        )
    return lambda: token
