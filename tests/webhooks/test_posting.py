"""One POST against a real receiver: TLS, redirects, answers without an end, what is asked for, what is never shown."""

import itertools
import logging
import socket
import ssl
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from exporters.webhooks.credentials import Secret, SecretSource
from exporters.webhooks.posting import Poster, Request
from fairclock.errors import ConfigurationError
from tests.sidecar.certificates import make_authority, make_certificate
from tests.webhooks.factories import NOW, SECRET
from tests.webhooks.receiver import Receiver


def post(url, *, now=NOW, **options):
    poster = Poster(allowed=["127.0.0.1", "localhost"], now=lambda: now, **options)
    return poster.post(Request(url=Secret(url), body=b'{"a":1}', headers={"X-A": "b"}))


def test_body_and_headers_arrive_as_they_are():
    with Receiver((202, {}, b"fine")) as receiver:
        response = post(receiver.url())
        (got,) = receiver.received
    assert (response.status, response.body, response.problem) == (202, b"fine", "")
    assert (got.body, got.headers["X-A"], got.headers["User-Agent"]) == (b'{"a":1}', "b", "fairclock")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status):
    with Receiver() as inside, Receiver((status, {}, b"")) as receiver:
        receiver.answers = [(status, {"Location": inside.url()}, b"")]
        assert post(receiver.url()).status == status
        assert inside.received == []


def test_the_environments_proxy_is_not_asked(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with Receiver() as receiver:
        assert post(receiver.url()).status == 200


def test_an_answer_without_an_end_is_cut():
    def endless(handler):
        handler.send_response(200)
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b"x" * 65_536)
        except OSError:
            handler.close_connection = True

    with Receiver(endless) as receiver:
        assert len(post(receiver.url()).body) == 65_536


def test_a_small_answer_that_would_unpack_to_a_large_one_is_not_unpacked():
    with Receiver((200, {"Content-Encoding": "gzip"}, b"\x1f\x8b\x08\x00")) as receiver:
        assert post(receiver.url()).body == b"\x1f\x8b\x08\x00"
        assert receiver.received[0].headers["Accept-Encoding"] == "identity"


def broken(handler):
    handler.wfile.write(b"no HTTP at all\r\n\r\n")
    handler.close_connection = True


def test_what_is_no_http_is_said():
    with Receiver(broken) as receiver:
        assert post(receiver.url()).problem == "what answers there is no HTTP, or it broke off"


def test_nobody_there_is_said():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        assert post(f"http://127.0.0.1:{taken.getsockname()[1]}/").problem == "Connection refused"


def test_the_next_address_is_tried_where_the_first_does_not_answer():
    with Receiver() as receiver:
        response = post(receiver.url(host="localhost"), resolve=lambda host, port: ["127.0.0.9", "127.0.0.1"])
    assert response.status == 200


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120.0),
        ("Wed, 07 Oct 2026 03:01:30 GMT", 90.0),
        ("Wed, 07 Oct 2026 02:00:00 GMT", 0.0),
        ("999999999", 3_600.0),
        ("Wed, 07 Oct 2099 02:00:00 GMT", 3_600.0),
        ("soon", None),
        ("-5", None),
        ("", None),
    ],
)
def test_for_how_long_it_wants_to_be_left_alone(text, seconds):
    with Receiver((429, {"Retry-After": text}, b"")) as receiver:
        assert post(receiver.url()).retry_after_seconds == seconds


def tls(certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def test_a_certificate_is_verified_for_the_name_and_not_for_the_address(tmp_path):
    authority = make_authority(tmp_path)
    context = tls(*make_certificate(tmp_path))  # for 127.0.0.1
    with Receiver(context=context) as receiver:
        assert post(receiver.url(), ca=authority).status == 200
        untrusted = post(receiver.url())
        wrong = post(receiver.url(host="localhost"), ca=authority, resolve=lambda host, port: ["127.0.0.1"])
        assert len(receiver.received) == 1
    assert (untrusted.status, wrong.status) == (0, 0)
    assert untrusted.problem.startswith("its certificate is not accepted")
    assert "localhost" in wrong.problem


def test_certificates_that_cannot_be_used_are_said_at_once(tmp_path):
    with pytest.raises(ConfigurationError, match="cannot be used as certificates"):
        Poster(allowed=[], now=lambda: NOW, ca=tmp_path / "none.pem")


def test_an_address_that_is_a_secret_is_in_no_log(caplog):
    with caplog.at_level(logging.INFO), Receiver() as receiver:
        post(receiver.url(path=f"/{SECRET}"))
        post(f"http://127.0.0.1:1/{SECRET}")
    assert SECRET not in caplog.text


def test_a_secret_is_read_each_time(tmp_path):
    path = tmp_path / "secret"
    path.write_text(f"{SECRET}\n")
    source = SecretSource(file=path)
    assert source.read({}).reveal() == SECRET
    path.write_text("another")
    assert source.read({}).reveal() == "another"
    assert SecretSource(variable="S").read({"S": " x "}).reveal() == "x"


@pytest.mark.parametrize(
    ("source", "environment", "said"),
    [
        (SecretSource(variable="S"), {}, "$S: holds no secret"),
        (SecretSource(variable="S"), {"S": " "}, "$S: holds no secret"),
        (SecretSource(variable="S"), {"S": f"{SECRET}\n{SECRET}"}, "$S: holds more than one line"),
    ],
)
def test_a_secret_that_is_none_is_said_and_not_shown(source, environment, said):
    with pytest.raises(ConfigurationError) as caught:
        source.read(environment)
    assert said in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_file_of_no_secret_is_said_and_not_shown(tmp_path):
    (tmp_path / "binary").write_bytes(SECRET.encode() + b"\xff")
    for name, said in (("none", "No such file"), ("binary", "not a text")):
        with pytest.raises(ConfigurationError, match=said) as caught:
            SecretSource(file=tmp_path / name).read({})
        assert SECRET not in str(caught.value)


def test_the_clock_of_an_answer_that_drips_is_looked_at():
    """A receiver that sends a byte now and then does not hold a courier for ever."""
    looks, drops = itertools.count(), threading.Semaphore(0)

    def now():
        drops.release()
        return NOW + timedelta(seconds=15 * next(looks))

    def dripping(handler):
        handler.send_response(200)
        handler.end_headers()
        # no drop before the one before it was read and the clock looked at
        while drops.acquire(timeout=60):
            try:
                handler.wfile.write(b"x")
            except OSError:
                break
        handler.close_connection = True

    with Receiver(dripping) as receiver:
        poster = Poster(allowed=["127.0.0.1"], now=now)
        assert poster.post(Request(url=Secret(receiver.url()), body=b"{}")).body == b"xx"


class SixReceiver(ThreadingHTTPServer):
    address_family = socket.AF_INET6


def test_an_address_of_ipv6_is_connected_to_as_well():
    hosts = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            hosts.append(self.headers["Host"])
            self.rfile.read(int(self.headers["Content-Length"]))  # what is left unread resets the connection
            self.send_response(204)
            self.end_headers()

        def log_message(self, *words):
            pass

    with SixReceiver(("::1", 0), Handler) as server:
        port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            assert post(f"http://localhost:{port}/", resolve=lambda host, port: ["::1"]).status == 204
        finally:
            server.shutdown()
            thread.join()
    assert hosts == [f"localhost:{port}"]
