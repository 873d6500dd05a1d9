"""One scrape over a real connection: what is sent, what comes back, and what goes wrong."""

from __future__ import annotations

import asyncio
import socket
import ssl
import zlib
from typing import TYPE_CHECKING

import httpx
import pytest

from collectors.vllm_metrics.scraping.fetching import Fetcher, ScrapeFailedError, trust
from collectors.vllm_metrics.scraping.targets import Access, Defaults
from fairclock.errors import ConfigurationError
from tests.sidecar.certificates import make_authority, make_certificate
from tests.vllm_scraping.conftest import METRICS, PLAIN, answering

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from collectors.vllm_metrics.scraping.fetching import Body
    from tests.vllm_scraping.conftest import Engine

DEFAULTS = Defaults(interval_seconds=600.0, timeout_seconds=300.0)


def fetch(url: str, *, access: Access = DEFAULTS.access, timeout_seconds: float | None = None) -> Body:
    target = DEFAULTS.target(url, access=access, timeout_seconds=timeout_seconds)

    async def run() -> Body:
        fetcher = Fetcher()
        try:
            return await fetcher.fetch(target)
        finally:
            await fetcher.close()

    return asyncio.run(run())


@pytest.mark.parametrize("packed", [pytest.param(False, id="plain"), pytest.param(True, id="packed by gzip")])
def test_an_answer_comes_back_as_it_was_written(make_engine: Callable[..., Engine], packed: bool) -> None:
    engine = make_engine(answering(packed=packed))
    body = fetch(engine.url)
    assert (body.content, body.content_type) == (METRICS, PLAIN)
    assert engine.requests[0]["accept"].startswith("application/openmetrics-text;version=1.0.0,")


def test_token_and_headers_are_sent_and_the_token_is_read_each_time(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine, token = make_engine(), tmp_path / "token"
    access = Access(token_file=token, headers=(("X-Scope", "metrics"),))
    for text in ("first", "second"):
        token.write_text(f"{text}\n")
        fetch(engine.url, access=access)
    assert [each["authorization"] for each in engine.requests] == ["Bearer first", "Bearer second"]
    assert {each["x-scope"] for each in engine.requests} == {"metrics"}
    assert "metrics" not in repr(access)


def hang(handler: Any) -> None:
    handler.connection.recv(1)  # until the other side gives up


def trickle(handler: Any) -> None:
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b"# a line that never ends " * 1_000)
    except OSError:
        handler.close_connection = True


def stall(handler: Any) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(METRICS)
    handler.connection.recv(1)


def break_off(handler: Any) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(METRICS[:10])
    handler.close_connection = True


def packed_wrongly(handler: Any) -> None:
    handler.send_response(200)
    handler.send_header("Content-Encoding", "gzip")
    handler.send_header("Content-Length", "4")
    handler.end_headers()
    handler.wfile.write(b"nope")


def packed_hugely(handler: Any) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    body = b"".join(packer.compress(bytes(1 << 20)) for _ in range(64)) + packer.flush()
    handler.send_response(200)
    handler.send_header("Content-Encoding", "gzip")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        pytest.param(answering(status=503), "HTTP 503", id="an error"),
        pytest.param(answering(status=401), "HTTP 401", id="not let in"),
        pytest.param(answering(status=204), "HTTP 204", id="nothing"),
        pytest.param(answering(status=302, Location="http://127.0.0.1:1/"), "redirects", id="a redirection"),
        pytest.param(break_off, r"peer closed connection", id="an answer that breaks off"),
        pytest.param(packed_wrongly, "cannot be unpacked", id="what is no gzip"),
        pytest.param(packed_hugely, "more than 16 MiB", id="a gzip bomb"),
        pytest.param(trickle, "more than 16 MiB", id="an answer without an end"),
    ],
)
def test_what_is_no_answer_is_a_failure_with_a_reason(
    make_engine: Callable[..., Engine], answer: Callable[[Any], None], sentence: str
) -> None:
    with pytest.raises(ScrapeFailedError, match=sentence):
        fetch(make_engine(answer).url)


@pytest.mark.parametrize(
    "answer", [pytest.param(hang, id="before the answer"), pytest.param(stall, id="in the answer")]
)
def test_an_engine_that_hangs_is_left_after_its_time(
    make_engine: Callable[..., Engine], answer: Callable[[Any], None]
) -> None:
    with pytest.raises(ScrapeFailedError, match=r"no whole answer within 0\.3 s"):
        fetch(make_engine(answer).url, timeout_seconds=0.3)


def test_nobody_there_is_a_failure() -> None:
    # bound and listening to nobody: no other process can take it
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        with pytest.raises(ScrapeFailedError, match=r".+"):
            fetch(f"http://127.0.0.1:{silent.getsockname()[1]}/metrics")


def test_a_proxy_of_the_environment_is_not_asked(
    make_engine: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert fetch(make_engine().url).content == METRICS


def test_an_engine_is_known_by_its_authority_and_knows_who_asks(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    authority, other = make_authority(tmp_path), make_authority(tmp_path, "other")
    certificate, key = make_certificate(tmp_path)
    own, own_key = make_certificate(tmp_path, name="scraper")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.load_verify_locations(authority)
    context.verify_mode = ssl.CERT_REQUIRED
    engine = make_engine(context=context)
    assert fetch(engine.url, access=Access(ca=authority, certificate=own, key=own_key)).content == METRICS
    for access in (
        Access(ca=other, certificate=own, key=own_key),
        Access(certificate=own, key=own_key),
        Access(ca=authority),
    ):
        with pytest.raises(ScrapeFailedError):
            fetch(engine.url, access=access)
    assert len(engine.requests) == 1


@pytest.mark.parametrize("error", [ssl.SSLError(1, "certificate required"), ConnectionResetError("reset")])
def test_what_the_network_says_past_httpx_fails_the_scrape_and_not_the_scraper(error: OSError) -> None:
    def raising(_: httpx.Request) -> httpx.Response:
        raise error

    async def run() -> None:
        await Fetcher(transport=httpx.MockTransport(raising)).fetch(DEFAULTS.target("http://a:1"))

    with pytest.raises(ScrapeFailedError, match=r"certificate required|reset"):
        asyncio.run(run())


def test_certificates_that_are_none_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "no.pem").write_text("nothing")
    with pytest.raises(ConfigurationError, match=r"no\.pem: cannot be used as certificates"):
        trust(Access(ca=tmp_path / "no.pem"))
    with pytest.raises(ConfigurationError, match="is no certificate that fits"):
        trust(Access(certificate=tmp_path / "no.pem", key=tmp_path / "no.key"))


@pytest.mark.parametrize("content", [None, b"", b"two words", b"\xff\xfe"])
def test_a_token_that_cannot_be_read_fails_the_scrape_and_says_why(
    make_engine: Callable[..., Engine], tmp_path: Path, content: bytes | None
) -> None:
    token = tmp_path / "token"
    if content is not None:
        token.write_bytes(content)
    engine = make_engine()
    with pytest.raises(ScrapeFailedError, match="token"):
        fetch(engine.url, access=Access(token_file=token))
    assert engine.requests == []
