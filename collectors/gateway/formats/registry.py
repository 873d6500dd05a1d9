"""Own the formats by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collectors.gateway.formats import (
    apisix,
    aws_alb,
    azure_application_gateway,
    caddy,
    envoy,
    envoy_json,
    haproxy,
    haproxy_json,
    kong,
    nginx,
    nginx_json,
    traefik,
)
from fairclock.errors import ConfigurationError

if TYPE_CHECKING:
    from collectors.gateway.formats.format import GatewayFormat

FORMATS: dict[str, GatewayFormat] = {
    each.name: each
    for each in (
        nginx_json.FORMAT,
        nginx.FORMAT,
        nginx.INGRESS_FORMAT,
        envoy.FORMAT,
        envoy.ISTIO_FORMAT,
        envoy_json.FORMAT,
        haproxy.FORMAT,
        haproxy_json.FORMAT,
        traefik.JSON_FORMAT,
        traefik.CLF_FORMAT,
        caddy.FORMAT,
        apisix.FORMAT,
        kong.FORMAT,
        aws_alb.FORMAT,
        azure_application_gateway.FORMAT,
    )
}  # fmt: skip
"""Every format there is; one that needs an argument is here without it."""


def format_of(name: str) -> GatewayFormat:
    """Return the format called NAME or NAME:ARGUMENT; raises `ConfigurationError`."""
    base, colon, argument = name.partition(":")
    found = FORMATS.get(base)
    if found is None:
        raise ConfigurationError(
            "gateway.format",
            "there is no such format",
            found=base,
            remedy=f"the formats are {', '.join(sorted(FORMATS))}",
        )
    return found.with_argument(argument) if colon else found
