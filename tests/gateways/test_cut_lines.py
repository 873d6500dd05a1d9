"""A line that was cut, or holds what no client should send, is refused or says the same: never something else."""

import pytest

from collectors.gateway.formats import UnreadableLine, canonical_lines, format_of
from tests.gateways.reading import lines_of, read

NAMES = [
    "haproxy", "haproxy-json", "traefik-json", "traefik-clf", "caddy-json", "apisix-json", "kong-json", "aws-alb",
    "azure-application-gateway",
]  # fmt: skip
MEASURED = (
    "time",
    "request_time",
    "status",
    "queue",
    "forwarded",
    "time_to_first_token",
    "upstream_response_time",
    "upstream_addr",
)
SAID = (*MEASURED, "tenant", "request_id", "traceparent", "model")


def requests_of(name):
    form = format_of(name)
    return [line for line in lines_of(name) if not form.ignores(line)]


def measured(name, line, keys=MEASURED):
    try:
        fields = read(name, line)
    except UnreadableLine:
        return None
    return {key: fields.get(key) for key in keys}


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_line_is_refused_or_measures_the_same(name):
    for line in requests_of(name):
        whole = measured(name, line)
        assert {tuple(cut.items()) for end in range(len(line)) if (cut := measured(name, line[:end]))} <= {
            tuple((whole or {}).items())
        }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "odd", [b"\x00", b"\xff\xfe", b"\\x22", b"%22%00", b"\xe2\x80\xa8", b"\xc0\xaf"], ids=repr
)
def test_an_odd_path_changes_no_measurement(name, odd):
    checked = 0
    for line in requests_of(name):
        path = b"/v1/" if b"/v1/" in line else None
        if path is None or (whole := measured(name, line, SAID)) is None:
            continue
        changed = measured(name, line.replace(path, b"/v1/" + odd), SAID)
        assert changed in (whole, None)  # JSON knows neither NULs nor \x
        checked += 1
        (written,) = canonical_lines(format_of(name), [line.replace(path, b"/v1/" + odd)])
        written.decode()
    assert checked
