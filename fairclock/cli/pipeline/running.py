"""Own a long-running command as a whole: parts started in order, announced, watched, stopped in reverse."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from exporters.spool import Spool
from fairclock.cli.pipeline.alerting import carrying
from fairclock.cli.pipeline.collecting import (
    FollowedFiles,
    make_receiver,
    make_scraper,
    make_syslog_receiver,
    receives_syslog,
    require_engines,
    require_logs,
)
from fairclock.cli.pipeline.delivering import forwarding, writing
from fairclock.cli.pipeline.gpus import gpu_announcement, make_gpu_collector, named
from fairclock.cli.pipeline.intake import Intake
from fairclock.cli.pipeline.parts import Pipeline
from fairclock.cli.pipeline.places import spool_directory
from fairclock.cli.pipeline.store_link import StoreLink
from fairclock.config.credentials import read_token
from fairclock.store.dsn import parse_dsn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from starlette.routing import BaseRoute, Route

    from collectors.gateway.syslog import SyslogReceiver
    from collectors.otlp.receiver import OtlpReceiver
    from collectors.vllm_metrics.configuration import VllmSection
    from fairclock.cli.configuration import Configuration
    from fairclock.cli.pipeline.looked import Looked
    from fairclock.store.tokens import Keyring


@contextmanager
def running(
    settings: Configuration,
    *,
    collectors: Collection[str],
    dsn: str | None,
    takes_frames: bool = False,
    looked: Looked | None = None,
) -> Iterator[Pipeline]:
    """Run what the settings say until the end of ``with``; frames go into the store at `dsn`, or are forwarded.

    `collectors` are "gateway", "otlp", "vllm" and "gpu". looked: what the console looks at; None where there is none.
    """
    if "gateway" in collectors:
        require_logs(settings.gateway)
    if "vllm" in collectors:
        require_engines(settings.vllm)
    with ExitStack() as stack:
        link = None
        if dsn is not None:
            link = StoreLink(dsn)
            stack.callback(link.close)
            link.try_to_open()
        directory = spool_directory(settings, dsn=dsn)
        spool = stack.enter_context(Spool(directory, limit_bytes=settings.spool.limit))
        pipeline = Pipeline(spool=spool, intake=Intake(spool.append), link=link)
        if link is not None and dsn is not None:
            pipeline.writer = stack.enter_context(writing(spool, link, settings.gateway))
            destination = str(parse_dsn(dsn))
        else:
            pipeline.forwarder = stack.enter_context(forwarding(spool, settings.forward))
            destination = settings.forward.to or ""
        _collect(pipeline, settings, stack, collectors, destination=destination, directory=directory)
        if takes_frames and link is not None and settings.webhooks.destinations:
            pipeline.courier = stack.enter_context(carrying(settings.webhooks, link))
            names = ", ".join(each.name for each in settings.webhooks.destinations)
            pipeline.announcements.append(f"telling of alerts: {names}")
        if looked is not None and settings.otlp_export.to is not None:
            from fairclock.cli.pipeline.spans import sending  # noqa: PLC0415 - only where somebody is to have them

            stack.enter_context(sending(settings.otlp_export, pipeline, directory=directory))
        if looked is not None and link is not None and settings.http.address != "off":
            from fairclock.cli.pipeline.metrics.serving import (  # noqa: PLC0415 - only where there is a store
                publishing,
                why_untold,
            )

            if refusal := why_untold(settings):
                pipeline.announcements.append(refusal)
            else:
                pipeline.publisher = stack.enter_context(
                    publishing(settings, looked, pipeline, directory=directory)
                )
        if settings.http.address != "off" or _has_own_console(settings, looked):
            _answer(pipeline, settings, stack, takes_frames=takes_frames, looked=looked)
        yield pipeline


def _collect(
    pipeline: Pipeline,
    settings: Configuration,
    stack: ExitStack,
    collectors: Collection[str],
    *,
    destination: str,
    directory: Path,
) -> None:
    if "otlp" in collectors:
        receiver = make_receiver(settings.otlp, pipeline.intake, directory=directory)
        pipeline.receiver = stack.enter_context(receiver)
        pipeline.announcements.append(_receiving(receiver, destination))
    if "gateway" in collectors and settings.gateway.files:
        followed = FollowedFiles(settings.gateway, pipeline.intake, directory=directory)
        pipeline.tail = stack.enter_context(followed)
        names = ", ".join(str(path) for path in settings.gateway.files)
        pipeline.announcements.append(f"following {names}; into {destination}")
    if "gateway" in collectors and receives_syslog(settings.gateway):
        syslog = make_syslog_receiver(settings.gateway, pipeline.intake)
        pipeline.syslog = stack.enter_context(syslog)
        pipeline.announcements.append(_receiving_syslog(syslog, destination))
    if "vllm" in collectors:
        pipeline.scraper = stack.enter_context(make_scraper(settings.vllm, pipeline.intake))
        pipeline.announcements.append(_scraping(settings.vllm, destination))
    if "gpu" in collectors:
        section = named(settings.gpu)
        pipeline.gpus = stack.enter_context(make_gpu_collector(section, pipeline.intake))
        pipeline.announcements.append(gpu_announcement(section, destination))


def _answer(
    pipeline: Pipeline,
    settings: Configuration,
    stack: ExitStack,
    *,
    takes_frames: bool,
    looked: Looked | None,
) -> None:
    from fairclock.cli.pipeline.endpoint import answering, health_routes  # noqa: PLC0415 - a sidecar may do without

    http = settings.http
    routes: list[BaseRoute] = list(
        health_routes(
            ended=pipeline.ended,
            ready=pipeline.ready,
            scrape=lambda format_, compressed: pipeline.scrape(format_, compressed=compressed),
            token=_scrape_token(settings),
        )
    )
    keyring = None
    if takes_frames:
        keyring = _keyring(pipeline)
        routes += [_frames_route(pipeline, keyring), _degradations_route(pipeline, keyring)]
    console = None
    if looked is not None and keyring is not None and settings.console.enabled:
        console = _console(pipeline, settings, stack, keyring, looked)
    own = settings.console.address
    if console is not None and own is None:
        routes.append(console)
    if http.address != "off":
        pipeline.url = stack.enter_context(answering(http, routes))
        pipeline.announcements.append(f"answering on {pipeline.url}")
    if console is not None and own not in {None, "off"}:
        pipeline.console_url = stack.enter_context(
            answering(http.model_copy(update={"address": own}), [console], option="console.address")
        )
    elif console is not None and own is None:
        pipeline.console_url = pipeline.url
    if pipeline.console_url is not None:
        pipeline.announcements.append(f"console: {pipeline.console_url}/")


def _scrape_token(settings: Configuration) -> Callable[[], str] | None:
    """Return what reads the token of a scrape, which can be read now; raises `ConfigurationError` where it cannot."""
    path = settings.metrics.token_file
    if path is None:
        return None

    def read() -> str:
        return read_token(
            path, if_unreadable="correct metrics.token_file", if_empty="write a token there, and nothing else"
        )

    read()
    return read


def _has_own_console(settings: Configuration, looked: Looked | None) -> bool:
    return looked is not None and settings.console.enabled and settings.console.address not in {None, "off"}


def _console(
    pipeline: Pipeline, settings: Configuration, stack: ExitStack, keyring: Keyring, looked: Looked
) -> BaseRoute | None:
    """Return the console at every path that is nobody else's; None where what renders pages is not installed."""
    if find_spec("jinja2") is None:
        pipeline.announcements.append("no console: it needs fairclock[reports]")
        return None
    from starlette.routing import Mount  # noqa: PLC0415 - a sidecar may do without

    from fairclock.cli.pipeline.console import console  # noqa: PLC0415

    link = pipeline.link
    assert link is not None  # noqa: S101 - whoever lets others in has a store
    address = settings.console.address or settings.http.address
    return Mount("/", stack.enter_context(console(settings, link.open, keyring, looked, address=address)))


def _keyring(pipeline: Pipeline) -> Keyring:
    from fairclock.store.tokens import Keyring, list_tokens  # noqa: PLC0415

    link = pipeline.link
    assert link is not None  # noqa: S101 - whoever lets others in has a store
    return Keyring(lambda: list_tokens(link.open()), monotonic=time.monotonic)


def _degradations_route(pipeline: Pipeline, keyring: Keyring) -> Route:
    from fairclock.cli.pipeline.remedies import degradations_route  # noqa: PLC0415
    from sla.degradations import record  # noqa: PLC0415

    link = pipeline.link
    assert link is not None  # noqa: S101 - whoever lets others in has a store
    return degradations_route(
        lambda said, author: record(link.open(), said, author=author, origin="api"), keyring.find
    )


def _frames_route(pipeline: Pipeline, keyring: Keyring) -> Route:
    from exporters.forwarding.endpoint import Permission, frames_route  # noqa: PLC0415
    from fairclock.store.tokens import Scope  # noqa: PLC0415

    def permission(text: str) -> Permission:
        token = keyring.find(text)
        if token is None:
            return Permission.UNKNOWN
        allowed = token.scope in {Scope.COLLECTOR, Scope.ADMIN}
        return Permission.GRANTED if allowed else Permission.OTHER_SCOPE

    def count(frames: int) -> None:
        pipeline.received_frames += frames

    return frames_route(pipeline.intake, permission, counted=count)


def _receiving(receiver: OtlpReceiver, destination: str) -> str:
    places = []
    if receiver.grpc_address is not None:
        places.append(f"gRPC on {receiver.grpc_address}")
    if receiver.http_address is not None:
        places.append(f"HTTP on http://{receiver.http_address}/v1/traces")
    return f"receiving OTLP spans: {', '.join(places)}; into {destination}"


def _scraping(section: VllmSection, destination: str) -> str:
    places = [each.url for each in section.targets]
    places += [*map(str, section.files), *(each.name for each in section.dns)]
    return f"scraping {', '.join(places)}; into {destination}"


def _receiving_syslog(syslog: SyslogReceiver, destination: str) -> str:
    addresses = {"UDP": syslog.udp_address, "TCP": syslog.tcp_address}
    places = [f"{name} on {address}" for name, address in addresses.items() if address is not None]
    return f"receiving syslog: {', '.join(places)}; into {destination}"
