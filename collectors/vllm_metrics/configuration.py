"""Own the section ``vllm`` of the configuration: which engines are scraped, how often, and with what."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator

from collectors.vllm_metrics.scraping.urls import url_problem
from fairclock.config import FilePath, Seconds, Section, refuse

_SHORTEST_SECONDS = 0.1
_LONGEST_SECONDS = 3_600.0


def _interval(seconds: float) -> float:
    if not _SHORTEST_SECONDS <= seconds <= _LONGEST_SECONDS:
        raise refuse("is not between 100ms and 1h", "write 15s")
    return seconds


def _url(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = value.strip()
    if "://" not in text:
        text = f"http://{text}"
    problem = url_problem(text)
    if problem:
        raise refuse(problem, "write http://host:8000/metrics")
    return text


def _target(value: Any) -> Any:
    return {"url": value} if isinstance(value, str) else value


Interval = Annotated[Seconds, AfterValidator(_interval)]
"""A duration between 100 ms and an hour."""


class AccessSection(Section):
    """What a scrape needs to be let in."""

    token_file: FilePath | None = Field(default=None, examples=["/etc/fairclock/vllm.token"])
    """The file that holds the bearer token; it is read again before each scrape."""

    ca: FilePath | None = Field(default=None, examples=["/etc/fairclock/vllm-ca.pem"])
    """The certificates (PEM) by which the engine is known, in place of the system's."""

    certificate: FilePath | None = Field(default=None, examples=["/etc/fairclock/scraper.pem"])
    """The certificate (PEM) that is shown to the engine."""

    key: FilePath | None = Field(default=None, examples=["/etc/fairclock/scraper.key"])
    """Its key (PEM)."""

    headers: dict[str, SecretStr] = Field(default={}, examples=[{"X-Scope": "metrics"}])
    """Headers that are sent along; their values are never shown."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.certificate is None) != (self.key is None):
            raise refuse("needs both certificate and key, or none of them", "write the one that is missing")
        for name, value in self.headers.items():
            text = value.get_secret_value()
            if not name.replace("-", "").replace("_", "").isalnum() or not (name + text).isascii():
                raise refuse("holds a header that is not one", "write NAME: VALUE in ASCII", secret=True)
            if not text.isprintable():
                raise refuse("holds a header with a control character", "leave it out", secret=True)
        return self


class TargetSection(AccessSection):
    """One engine, or the front of several."""

    url: Annotated[str, BeforeValidator(_url)]
    """Where its metrics are: http://host:8000/metrics; scheme and path may be left out."""

    name: str = ""
    """What it is called (default: its host and port)."""

    interval: Interval | None = None
    """How often it is asked, where not as often as the others."""

    timeout: Interval | None = None
    """How long it may take to answer, where not as long as the others."""


class DnsSection(Section):
    """A name whose records are the engines."""

    name: str
    """The name that is looked up."""

    type: Literal["A", "AAAA", "SRV"] = "SRV"
    """Which records; A and AAAA need a port."""

    port: Annotated[int, Field(ge=1, le=65_535)] | None = None
    """The port of the engines; SRV records bring their own."""

    scheme: Literal["http", "https"] = "http"
    """How they are asked."""

    path: str = "/metrics"
    """Where on them."""

    @model_validator(mode="after")
    def _knows_ports(self) -> Self:
        if self.type != "SRV" and self.port is None:
            raise refuse("needs a port", "write port: 8000")
        if not self.path.startswith("/"):
            raise refuse("has a path that does not begin with /", "write path: /metrics")
        return self


class VllmSection(Section):
    """Whose statistics are scraped."""

    source: str = "vllm"
    """What the samples are said to come from."""

    interval: Interval = 15.0
    """How often each engine is asked."""

    timeout: Interval = 10.0
    """How long it may take to answer."""

    targets: tuple[Annotated[TargetSection, BeforeValidator(_target)], ...] = Field(
        default=(), examples=[["http://engine-1.example:8000/metrics"]]
    )
    """The engines, by address; each may have keys of its own: url, name, interval, timeout and what is in access."""

    files: tuple[FilePath, ...] = Field(default=(), examples=[["/etc/fairclock/engines/*.json"]])
    """Files that name engines as Prometheus's file_sd does; they are watched, and may hold * and ? in their names."""

    dns: tuple[DnsSection, ...] = Field(
        default=(), examples=[[{"name": "vllm.example", "type": "A", "port": 8000}]]
    )
    """Names whose records are the engines; they are looked up every 30 s."""

    access: AccessSection = AccessSection()
    """What every scrape needs that has nothing of its own."""
