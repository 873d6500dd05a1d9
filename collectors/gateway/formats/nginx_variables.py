"""Own what nginx's variables can hold, which decides whether a line can be cut apart again.

What a client sends can hold spaces, brackets, anything that its escaping lets through: it is free. The others are
made by nginx or by the operator and hold no spaces, or are lists, one element a try.
"""

from __future__ import annotations

from enum import Enum


class Shape(Enum):
    """What a value looks like."""

    NUMBER = "digits, a point, or - where nginx has none"
    TOKEN = "no space, no quote"  # noqa: S105 - a shape, no secret
    ADDRESS = "an address, v4 or v6"
    LIST = "tokens separated by a comma or a colon with spaces"
    LOCAL_TIME = "30/Nov/2026:12:00:00 +0800"
    FREE = "anything a client sends"


_NUMBERS = """
body_bytes_sent bytes_sent connection connection_requests connection_time connections_active content_length gzip_ratio
msec pid remote_port request_length request_time server_port status tcpinfo_rtt tcpinfo_rttvar tcpinfo_snd_cwnd
tcpinfo_rcv_space upstream_queue_time session_time proxy_protocol_port realip_remote_port
"""
_LISTS = """
upstream_addr upstream_bytes_received upstream_bytes_sent upstream_connect_time upstream_first_byte_time
upstream_header_time upstream_response_length upstream_response_time upstream_status
"""
_TOKENS = """
fairclock_tenant hostname https http2 http3 ingress_name limit_conn_status limit_rate limit_req_status namespace
nginx_version pipe proxy_alternative_upstream_name proxy_host proxy_port proxy_upstream_name request_completion
request_id request_method scheme server_name server_protocol service_name service_port ssl_cipher ssl_client_fingerprint
ssl_client_serial ssl_protocol ssl_session_id ssl_session_reused time_iso8601 upstream_cache_status
"""
_ADDRESSES = "binary_remote_addr proxy_protocol_addr realip_remote_addr remote_addr server_addr"

_SHAPES: dict[str, Shape] = {
    **dict.fromkeys(_NUMBERS.split(), Shape.NUMBER),
    **dict.fromkeys(_LISTS.split(), Shape.LIST),
    **dict.fromkeys(_TOKENS.split(), Shape.TOKEN),
    **dict.fromkeys(_ADDRESSES.split(), Shape.ADDRESS),
    "time_local": Shape.LOCAL_TIME,
}


def shape_of(variable: str) -> Shape:
    """Return what a variable's value looks like; one that is not known may hold anything."""
    return _SHAPES.get(variable, Shape.FREE)
