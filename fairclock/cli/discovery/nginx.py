"""Own the look for nginx: its configuration, the logs that can be followed, and where it hands requests to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from fairclock.cli.diagnosis.logs import file_finding
from fairclock.cli.discovery.discovered import Discovered, absent
from fairclock.cli.discovery.nginx_configuration import Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.cli.discovery.machine import Machine

_SUBJECT = "nginx"
_SHIPPED = "fairclock"
_USUAL = ("/etc/nginx/nginx.conf", "/usr/local/nginx/conf/nginx.conf", "/usr/local/openresty/nginx/conf/nginx.conf")  # fmt: skip
_MASTER = re.compile(r"nginx: master process (?P<command>.+)")
_LOOPBACK = re.compile(r"(?:https?://)?(?:127\.0\.0\.1|localhost|\[::1\]):(\d{1,5})")
_SNIPPET = "include the snippet collectors/gateway/nginx and log with `access_log FILE fairclock`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateways:
    """What is known of nginx: statements, and the loopback ports that it hands requests to."""

    statements: list[Discovered] = field(default_factory=list)
    engine_ports: list[int] = field(default_factory=list)


def look_for_nginx(machine: Machine) -> Gateways:
    """Look for running and for usual configurations of nginx."""
    places = _configurations(machine)
    if not places:
        return Gateways(
            statements=[absent(_SUBJECT, f"no nginx runs, and there is no {' or '.join(_USUAL)}")]
        )
    statements: list[Discovered] = []
    ports: list[int] = []
    for path, prefix in places:
        reading = Reading(machine=machine, prefix=str(PurePosixPath(path).parent), unreadable=[])
        found = list(reading.directives(path))
        ports += [
            int(match[1])
            for each in found
            if each.name in {"proxy_pass", "server"} and not each.opens and each.words
            and (match := _LOOPBACK.match(each.words[0]))
        ]  # fmt: skip
        named = [each.words for each in found if each.name == "access_log" and each.words]
        statements += [
            _seen(f"{each} cannot be read by this user, so what {path} has from there is not known")
            for each in reading.unreadable
        ]
        statements += [_log(machine, words, prefix) for words in dict.fromkeys(named) if words[0] != "off"]
        if not any(words[0] != "off" for words in named) and not reading.unreadable:
            statements.append(_seen(f"{path} names no access_log; {_SNIPPET}"))
    usable = [each.settings["gateway.files"][0] for each in statements if "gateway.files" in each.settings]
    logs = list(dict.fromkeys(usable))
    return Gateways(statements=list(_joined(statements, logs)), engine_ports=list(dict.fromkeys(ports)))


def _configurations(machine: Machine) -> list[tuple[str, str]]:
    """Return the configurations of the masters that run, else those in their usual places, each with nginx's prefix."""
    found = []
    for words in machine.command_lines():
        match = _MASTER.match(" ".join(words))
        if match:
            command = match["command"].split()
            options = dict(pairwise(command))
            prefix = options.get("-p", "/etc/nginx")
            found.append((str(PurePosixPath(prefix) / options.get("-c", "/etc/nginx/nginx.conf")), prefix))
    usual = [(path, str(PurePosixPath(path).parent)) for path in _USUAL if machine.path(path).exists()]
    return list(dict.fromkeys(found or usual))


def _log(machine: Machine, words: tuple[str, ...], prefix: str) -> Discovered:
    target, form = words[0], words[1] if len(words) > 1 and "=" not in words[1] else "combined"
    if target.startswith("syslog:"):
        return _seen(
            f"access_log {target}: name its server's address as gateway.syslog.udp, or log to a file"
        )
    if "$" in target:
        return _seen(
            f"access_log {target} has variables in its name: name its files yourself, as gateway.files"
        )
    path = str(PurePosixPath(prefix) / target)
    finding = file_finding(str(machine.path(path)), "auto")
    is_empty = "nothing in it yet" in finding.detail or "not there yet" in finding.detail
    if form != _SHIPPED and (is_empty or finding.state != "ok"):
        return _seen(f"{path} is written in the format {form}, and nothing in it can be read; {_SNIPPET}")
    if finding.state == "error":
        return _seen(f"{finding.detail.replace(str(machine.path(path)), path)}; {finding.remedy}")
    return Discovered(
        subject=_SUBJECT,
        detail=f"{path}, in the format {form}{', nothing in it yet' if is_empty else ''}",
        settings={"gateway.files": [path]},
    )


def _joined(statements: list[Discovered], logs: list[str]) -> Iterator[Discovered]:
    """Let the first log that can be followed carry all of them: a key is set once."""
    for each in statements:
        if "gateway.files" not in each.settings:
            yield each
        elif logs:
            yield Discovered(subject=each.subject, detail=each.detail, settings={"gateway.files": list(logs)})


def _seen(detail: str) -> Discovered:
    return Discovered(subject=_SUBJECT, detail=detail)
