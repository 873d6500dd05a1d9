"""Own what can be wrong with an OTLP request as a whole.

These are answers to a sender, not errors of this program: the receiver turns them into status codes, the
file reader into dead letters.
"""

from __future__ import annotations


class RequestProblem(Exception):  # noqa: N818 - a state of the request, not of this program
    """A request that cannot be taken; `str()` is a sentence for the sender."""


class MalformedRequest(RequestProblem):
    """The body is not what its type says. Sending it again will not help."""


class UnsupportedRequest(RequestProblem):
    """The body's type or encoding is not one that is read here."""


class OversizedRequest(RequestProblem):
    """The body is larger than the limit, as sent or after decompression."""
