"""Own what long-running commands share: their options, the settings these become, signals, announcements."""

from __future__ import annotations

import json
import signal
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fairclock.cli.configuration import Configuration, configuration
from fairclock.cli.logs import start_logging
from fairclock.cli.overriding import overridden

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType

F = TypeVar("F", bound="Callable[..., object]")
_ADDRESS = "HOST:PORT"


def _variable(name: str) -> dict[str, Any]:
    return {"envvar": f"FAIRCLOCK_{name}", "show_envvar": True, "default": None}


def collecting_options(function: F) -> F:
    """Add the options of collectors, spool, endpoint and log; each is named by its path in the configuration."""
    for option in (
        click.option(
            "--log-format",
            "log__format",
            type=click.Choice(["text", "json"]),
            help="How log lines are written (default: text).",
            **_variable("LOG_FORMAT"),
        ),
        click.option(
            "--tls-key",
            "http__key",
            metavar="FILE",
            help="The key of --tls-certificate.",
            **_variable("TLS_KEY"),
        ),
        click.option(
            "--tls-certificate",
            "http__certificate",
            metavar="FILE",
            help="The certificate that makes --listen HTTPS.",
            **_variable("TLS_CERTIFICATE"),
        ),
        click.option(
            "--spool-limit",
            "spool__limit",
            metavar="SIZE",
            help="How much the spool may hold (default: 2 GiB).",
            **_variable("SPOOL_LIMIT"),
        ),
        click.option(
            "--spool",
            "spool__directory",
            metavar="DIR",
            help="Where what is collected waits until it is delivered (default: beside the store).",
            **_variable("SPOOL"),
        ),
        click.option(
            "--syslog-tcp",
            "gateway__syslog__tcp",
            metavar=_ADDRESS,
            help="Where the gateway's syslog connections are accepted, or off (default: off).",
            **_variable("SYSLOG_TCP"),
        ),
        click.option(
            "--syslog-udp",
            "gateway__syslog__udp",
            metavar=_ADDRESS,
            help="Where the gateway's syslog datagrams are received, or off (default: off).",
            **_variable("SYSLOG_UDP"),
        ),
        click.option(
            "--gateway-source",
            "gateway__source",
            metavar="NAME",
            help="What the gateway's lines are said to come from (default: gateway).",
            **_variable("GATEWAY_SOURCE"),
        ),
        click.option(
            "--nginx-log-format",
            "gateway__log_format",
            metavar="TEXT",
            help="The gateway's log_format, where it is nginx's with one of your own.",
            **_variable("NGINX_LOG_FORMAT"),
        ),
        click.option(
            "--format",
            "gateway__format",
            metavar="FORMAT",
            help="How the gateway's log is written (default: auto, which recognises it).",
            **_variable("GATEWAY_FORMAT"),
        ),
        click.option(
            "--file",
            "gateway__files",
            multiple=True,
            metavar="PATH",
            help="A log of the gateway to follow, once or more often; may hold * and ?.",
        ),
        click.option(
            "--engine",
            "vllm__targets",
            multiple=True,
            metavar="URL",
            help="An engine whose statistics are scraped, once or more often.",
        ),
        click.option(
            "--engine-source",
            "vllm__source",
            metavar="NAME",
            help="What the engines' statistics are said to come from (default: vllm).",
            **_variable("ENGINE_SOURCE"),
        ),
        click.option(
            "--source",
            "otlp__source",
            metavar="NAME",
            help="What the spans are said to come from (default: otlp).",
            **_variable("SOURCE"),
        ),
        click.option(
            "--http",
            "otlp__http",
            metavar=_ADDRESS,
            help="Where OTLP over HTTP is received, or off (default: 127.0.0.1:4318).",
            **_variable("OTLP_HTTP"),
        ),
        click.option(
            "--grpc",
            "otlp__grpc",
            metavar=_ADDRESS,
            help="Where OTLP over gRPC is received, or off (default: 127.0.0.1:4317).",
            **_variable("OTLP_GRPC"),
        ),
    ):
        function = option(function)
    return function


def settings_of(config: Path | None, flags: dict[str, Any], *, quiet: bool) -> Configuration:
    """Return the settings that flags, variables, the configuration file and defaults make, and begin to log."""
    if flags.get("gateway__files"):
        flags = {**flags, "gateway__files": [str(Path(path).absolute()) for path in flags["gateway__files"]]}
    settings = overridden(configuration(config), flags)
    start_logging(level="warning" if quiet else settings.log.level, form=settings.log.format)
    return settings


def announce(lines: Iterable[str], settings: Configuration, *, quiet: bool) -> None:
    """Say on stderr what is running now."""
    if quiet:
        return
    for line in lines:
        as_json = settings.log.format == "json"
        click.echo(json.dumps({"level": "info", "message": line}) if as_json else line, err=True)


@contextmanager
def stop_signal() -> Iterator[Event]:
    """Yield an event that SIGINT and SIGTERM set; a second signal ends the program at once."""
    stop = Event()

    def note(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        stop.set()

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
