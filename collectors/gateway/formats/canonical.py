"""Own the canonical line: what every format's lines become, for the one SQL normalisation to read.

A line that was read is ``{"line_hash":"…","time":"…",…}``, one that could not be is
``{"line_hash":"…","bad":"reason","excerpt":"masked"}``. Identity rests on the raw line's hash, so what is made of
a line, its tenant too, never makes another request of it.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from json.encoder import encode_basestring
from typing import TYPE_CHECKING

from collectors.gateway.formats.format import UnreadableLine
from collectors.gateway.formats.times import seconds_text, us_of_seconds
from collectors.gateway.formats.values import path_of, text_of
from collectors.gateway.occurrences import is_repeated_too_often
from collectors.lines import is_cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from collectors.gateway.formats.format import Fields, GatewayFormat

    Tenancy = Callable[[Mapping[str, str]], str]

_HASH_BYTES = 16
_EXCERPT_BYTES = 4_096
_DIGITS = re.compile(r"[0-9]")
_LETTERS = re.compile(r"[A-Za-z]|[^ -~]")
_OWN_DURATIONS = ("queue", "time_to_first_token")
_NEVER_HANDED_ON = ("api_key", "api_key_sha256", "client_subject")
_BLANK = b""


def canonical_lines(
    form: GatewayFormat, lines: Iterable[bytes], *, tenancy: Tenancy | None = None
) -> list[bytes]:
    """Return one canonical line for each of `lines`, in order; what is no request and no fault becomes a blank one.

    `tenancy` tells a request's tenant from its fields, or returns an empty text.
    """
    if form.passes_through:
        if tenancy is None:
            return list(lines)
        return [_with_tenant(form, line, tenancy) for line in lines]
    return [_canonical(form, line, tenancy) for line in lines]


def _canonical(form: GatewayFormat, line: bytes, tenancy: Tenancy | None) -> bytes:
    if not line or line.isspace() or form.ignores(line):
        return _BLANK
    try:
        fields = form.read(_whole(line))
    except UnreadableLine as error:
        return _bad(line, error.reason)
    tenant = "" if tenancy is None else tenancy(fields)
    if tenant:
        fields["tenant"] = tenant
    for key in _NEVER_HANDED_ON:
        fields.pop(key, None)
    _measure(fields)
    if "uri" in fields:
        fields["uri"] = path_of(fields["uri"])
    return _written(line, fields)


def _measure(fields: Fields) -> None:
    """Write durations that a gateway measured as the figures that nginx would have logged for them.

    A handshake and a time before the engine that are known as such become the differences that the normalisation
    takes; of what is no duration, or longer than the request, nothing is left.
    """
    for key in _OWN_DURATIONS:
        if key in fields and us_of_seconds(fields[key]) is None:
            del fields[key]
    connected_us, forwarded_us = (
        us_of_seconds(fields.pop("connected", "")),
        us_of_seconds(fields.pop("forwarded", "")),
    )
    if connected_us is None and forwarded_us is None:
        return
    took_us = us_of_seconds(fields.get("request_time", ""))
    if took_us is None:
        return
    if connected_us is not None:
        fields["connection_requests"], fields["connection_time"] = "1", seconds_text(took_us + connected_us)
    if forwarded_us is not None and forwarded_us <= took_us:
        fields["upstream_response_time"] = seconds_text(took_us - forwarded_us)


def _whole(line: bytes) -> bytes:
    if is_repeated_too_often(line):
        raise UnreadableLine("repeated more than 65,535 times")
    if is_cut(line):
        raise UnreadableLine("longer than 1 MiB")
    return line


def _bad(line: bytes, reason: str) -> bytes:
    masked = _LETTERS.sub("x", _DIGITS.sub("0", text_of(line[:_EXCERPT_BYTES])))
    return _written(line, {"bad": reason, "excerpt": masked})


def _written(line: bytes, fields: Fields) -> bytes:
    digest = blake2b(line, digest_size=_HASH_BYTES).hexdigest()
    text = ",".join([f'"{key}":{encode_basestring(value)}' for key, value in fields.items()])
    return f'{{"line_hash":"{digest}",{text}}}'.encode("utf-8", "replace")


def _with_tenant(form: GatewayFormat, line: bytes, tenancy: Tenancy) -> bytes:
    """Put the tenant in front of a line that is its own identity, and must stay byte for byte what it is."""
    try:
        tenant = tenancy(form.read(line))
    except UnreadableLine:  # the normalisation says why
        return line
    if not tenant:
        return line
    text = json.dumps(tenant).replace("}", "\\u007d").replace('\\"', "\\u0022")
    return f'{{"of_tenant":{text}}}'.encode() + line
