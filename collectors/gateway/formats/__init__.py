"""Own the formats that gateways write their logs in: one module each, all leading to the same canonical line.

A format says what a line means (`GatewayFormat.read`); `canonical` writes it down as the JSON line that the
one SQL normalisation reads; `registry` knows all formats by name; `detection` tells which one a log is in.
"""

from collectors.gateway.formats.canonical import canonical_lines
from collectors.gateway.formats.detection import AUTO, SHIPPED, Detected, FormatChoice
from collectors.gateway.formats.format import Fields, GatewayFormat, UnreadableLine
from collectors.gateway.formats.registry import FORMATS, format_of

__all__ = [
    "AUTO",
    "FORMATS",
    "SHIPPED",
    "Detected",
    "Fields",
    "FormatChoice",
    "GatewayFormat",
    "UnreadableLine",
    "canonical_lines",
    "format_of",
]
