"""What an answer, or none, means for the sidecar that waits for it."""

import httpx
import pytest

from exporters.forwarding.batches import MEDIA_TYPE
from exporters.forwarding.destination import Destination, Outcome, read_token
from exporters.forwarding.url import check_url
from fairclock.errors import ConfigurationError, UsageError

URL = "https://up.example:8780"


def deliver(answer, *, frames=3, token=lambda: "fct_x"):
    seen = []

    def handle(request):
        seen.append(request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    destination = Destination(URL, token=token, transport=httpx.MockTransport(handle))
    try:
        return destination.deliver(b"body", frames=frames), seen
    finally:
        destination.close()


def test_the_request_names_its_kind_and_its_token_and_goes_where_it_should():
    answer, (request,) = deliver(httpx.Response(200, json={"frames": 3}))
    assert answer.outcome is Outcome.TAKEN
    assert str(request.url) == f"{URL}/v1/frames"
    assert (request.method, request.content) == ("POST", b"body")
    assert request.headers["Authorization"] == "Bearer fct_x"
    assert request.headers["Content-Type"] == MEDIA_TYPE


@pytest.mark.parametrize(
    ("response", "outcome", "said"),
    [
        pytest.param(
            httpx.Response(200, text="<html>welcome to the hotel</html>"),
            Outcome.MISUNDERSTOOD,
            "it does not answer as Fairclock does (HTTP 200)",
            id="a page that says yes to everything has taken nothing",
        ),
        pytest.param(
            httpx.Response(200, json={"frames": 2}),
            Outcome.MISUNDERSTOOD,
            "does not answer as Fairclock does",
            id="fewer frames than were sent",
        ),
        pytest.param(httpx.Response(200, json=[3]), Outcome.MISUNDERSTOOD, "does not answer", id="a list"),
        pytest.param(
            httpx.Response(200, json={"frames": "3"}), Outcome.MISUNDERSTOOD, "does not answer", id="a text"
        ),
        pytest.param(
            httpx.Response(401, json={"problem": "it was revoked"}),
            Outcome.UNAUTHORISED,
            "the token is refused (HTTP 401: it was revoked); "
            "make another with fairclock tokens create --scope collector",
            id="a token that is not known",
        ),
        pytest.param(
            httpx.Response(403), Outcome.UNAUTHORISED, "is refused (HTTP 403)", id="a token of another scope"
        ),
        pytest.param(httpx.Response(413), Outcome.TOO_LARGE, "too large (HTTP 413)", id="too large a batch"),
        pytest.param(httpx.Response(429), Outcome.LATER, "HTTP 429", id="too many"),
        pytest.param(
            httpx.Response(503, json={"problem": "spool: full"}),
            Outcome.LATER,
            "HTTP 503: spool: full",
            id="a full spool at the other end",
        ),
        pytest.param(httpx.Response(500), Outcome.LATER, "HTTP 500", id="a fault at the other end"),
        pytest.param(httpx.Response(502, text="<html>"), Outcome.LATER, "HTTP 502", id="a proxy's fault"),
        pytest.param(
            httpx.Response(302, headers={"Location": "https://elsewhere.example/"}),
            Outcome.MISUNDERSTOOD,
            "HTTP 302",
            id="a redirection is not followed with the token",
        ),
        pytest.param(
            httpx.Response(404), Outcome.MISUNDERSTOOD, "does not take frames of this kind", id="no such page"
        ),
        pytest.param(httpx.Response(415), Outcome.MISUNDERSTOOD, "HTTP 415", id="another version"),
        pytest.param(
            httpx.ConnectError("[Errno 111] Connection refused"),
            Outcome.LATER,
            "Connection refused",
            id="nobody there",
        ),
        pytest.param(httpx.ReadTimeout(""), Outcome.LATER, "ReadTimeout", id="no answer in time"),
        pytest.param(httpx.RemoteProtocolError("cut"), Outcome.LATER, "cut", id="a cut connection"),
    ],
)
def test_what_an_answer_means(response, outcome, said):
    answer, seen = deliver(response)
    assert answer.outcome is outcome
    assert said in answer.problem
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), ("0", 0.0), ("99999", 300.0), ("soon", None), ("-1", None), ("²", None)],
)
def test_the_other_side_may_ask_for_time_within_reason(header, seconds):
    answer, _ = deliver(httpx.Response(503, headers=[(b"Retry-After", header.encode("latin-1"))]))
    assert answer.wait_seconds == seconds


def test_a_token_that_cannot_be_read_is_told_and_nothing_is_sent(tmp_path):
    answer, seen = deliver(httpx.Response(200), token=lambda: read_token(tmp_path / "none"))
    assert answer.outcome is Outcome.UNAUTHORISED
    assert "the token cannot be read (No such file or directory); correct --token-file" in answer.problem
    assert seen == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds no token"),
        (b" \n", "holds no token"),
        (b"a b", "holds no token"),
        (b"\xff", "not a text"),
    ],
)
def test_a_file_without_a_token(tmp_path, content, said):
    (tmp_path / "token").write_bytes(content)
    with pytest.raises(ConfigurationError, match=said):
        read_token(tmp_path / "token")


def test_a_token_may_end_with_a_newline(tmp_path):
    (tmp_path / "token").write_text("fct_x\n")
    assert read_token(tmp_path / "token") == "fct_x"


@pytest.mark.parametrize(
    "content", [None, b"", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
)
def test_certificates_that_cannot_be_used_are_told_at_once(tmp_path, content):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(
        ConfigurationError, match=r"cannot be used as certificates .*; name a PEM file with --ca"
    ):
        Destination(URL, token=str, ca=path)


@pytest.mark.parametrize(
    ("url", "plain_http"),
    [
        ("https://up.example", False),
        ("https://up.example:8780/behind/a/proxy/", False),
        ("http://127.0.0.1:8780", False),
        ("http://[::1]:8780", False),
        ("http://localhost:8780", False),
        ("http://up.example:8780", True),
    ],
)
def test_an_address_that_may_be_used(url, plain_http):
    assert check_url(url, plain_http=plain_http) == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "", "up.example:8780", "ftp://up.example", "https://", "https://up:port", "https://user:secret@up.example",
        "https://up.example?x=1", "https://up.example#x", "https://up:0",
    ],
)  # fmt: skip
def test_an_address_that_is_none(url):
    with pytest.raises(UsageError, match="--to: not the address of fairclock up; write https://") as caught:
        check_url(url, plain_http=True)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://up.example", "http://10.0.0.1", "http://127.0.0.1.example.org"])
def test_a_token_does_not_travel_unencrypted_unless_that_is_allowed(url):
    with pytest.raises(UsageError, match=r"would travel unencrypted .* allow it with --plain-http"):
        check_url(url, plain_http=False)
