"""Own the two texts that Prometheus reads, and which of them it is that a scrape asks for."""

from __future__ import annotations

from enum import StrEnum

from prometheus_client.exposition import choose_encoder


class Format(StrEnum):
    """A text; only OpenMetrics has room for exemplars."""

    PLAIN = "plain"
    OPENMETRICS = "openmetrics"


def chosen(accept: str) -> tuple[Format, str]:
    """Return the format that an ``Accept`` header asks for, and the content type to answer with."""
    content_type = choose_encoder(accept)[1]
    if not content_type.startswith("application/openmetrics-text"):
        return Format.PLAIN, content_type
    # a version with histograms of its own kind is answered with the one that all know
    escaping = [part for part in content_type.split(";") if part.strip().startswith("escaping=")]
    return Format.OPENMETRICS, ";".join(
        ["application/openmetrics-text; version=1.0.0; charset=utf-8", *escaping]
    )


def takes_gzip(accept_encoding: str) -> bool:
    """Return whether an ``Accept-Encoding`` header lets the answer be compressed."""
    for each in accept_encoding.lower().split(","):
        name, _, rest = each.partition(";")
        if name.strip() == "gzip":
            return rest.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False
