"""The shipped snippets of gateways that no test can run: what they would write is recognised, and read in full."""

import json
import re
from pathlib import Path

import pytest
import yaml

import collectors.gateway
from tests.gateways.reading import read, recognised_by

FOLDER = Path(collectors.gateway.__file__).parent
SNIPPETS = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.y*ml"))
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def loaded(name):
    return yaml.safe_load((FOLDER / name).read_text())


def test_every_snippet_is_looked_at():
    assert SNIPPETS == [
        "apisix/config.yaml", "apisix/global-rules.yaml", "envoy/access-log.yaml", "kong/kong.yml", "traefik/tenants.yml", "traefik/traefik.yml",
    ]  # fmt: skip


@pytest.mark.parametrize("name", SNIPPETS)
def test_it_is_yaml(name):
    assert isinstance(loaded(name), dict)


def test_what_apisix_would_write_is_read_in_full():
    values = {
        "msec": "1796025601.023", "request_time": "0.900", "status": "200", "http_x_request_id": "order-7", "http_traceparent": TRACEPARENT,
        "consumer_name": "acme", "request_method": "POST", "uri": "/v1/chat/completions", "host": "inference", "request_completion": "OK",
        "upstream_addr": "10.0.0.11:8000", "upstream_status": "200", "upstream_response_time": "0.870", "apisix_upstream_response_time": "870",
        "request_length": "900", "bytes_sent": "2750", "request_type": "ai_stream", "request_llm_model": "default", "llm_model": "llama",
        "llm_prompt_tokens": "120", "llm_completion_tokens": "40", "llm_time_to_first_token": "60",
    }  # fmt: skip
    template = loaded("apisix/config.yaml")["nginx_config"]["http"]["access_log_format"]
    assert set(re.findall(r"\$(\w+)", template)) == set(values)
    line = re.sub(r"\$(\w+)", lambda found: values[found[1]], template)
    assert recognised_by(line.encode()) == {"apisix-json"}
    fields = read("apisix-json", line)
    assert (fields["time_to_first_token"], fields["tenant"], fields["model"]) == ("0.090000", "acme", "llama")
    assert (fields["request_id"], fields["traceparent"], fields["stream"]) == ("order-7", TRACEPARENT, "true")


def test_what_envoy_would_write_is_read_in_full():
    values = {
        "start_time": "2026-11-30T08:00:00.123Z", "duration": 900, "response_code": 200, "response_flags": "-", "request_tx_duration": 12,
        "response_duration": 50, "upstream_host": "10.0.0.11:8000", "upstream_request_attempt_count": 2, "method": "POST",
        "path": "/v1/chat/completions", "authority": "inference", "request_id": "order-7", "traceparent": TRACEPARENT, "tenant": "acme",
        "client_subject": "CN=acme", "bytes_received": 900, "bytes_sent": 2750,
    }  # fmt: skip
    (log,) = loaded("envoy/access-log.yaml")["access_log"]
    assert list(log["typed_config"]["log_format"]["json_format"]) == list(values)
    line = json.dumps(values)
    assert recognised_by(line.encode()) == {"envoy-json"}
    fields = read("envoy-json", line)
    assert {
        "forwarded",
        "upstream_addr",
        "method",
        "uri",
        "server",
        "client_subject",
        "request_length",
        "bytes_sent",
    } <= fields.keys()
    assert (fields["time"], fields["request_time"], fields["tenant"]) == (
        "1796025601.023000",
        "0.900000",
        "acme",
    )
    assert (fields["request_id"], fields["traceparent"]) == ("order-7", TRACEPARENT)


def test_envoys_path_is_logged_without_its_query():
    assert "%REQ(X-ENVOY-ORIGINAL-PATH" not in (FOLDER / "envoy/access-log.yaml").read_text()


def test_traefik_keeps_the_headers_that_are_read_and_no_other():
    headers = loaded("traefik/traefik.yml")["accessLog"]["fields"]["headers"]
    assert headers == {
        "defaultMode": "drop",
        "names": {"X-Request-Id": "keep", "X-Tenant": "keep", "Content-Type": "keep"},
    }


def test_kong_writes_no_query_body_or_secret():
    (log,) = (each for each in loaded("kong/kong.yml")["plugins"] if each["name"] == "file-log")
    removed = log["config"]["custom_fields_by_lua"]
    assert removed.pop("request.uri") == "return kong.request.get_path()"
    assert set(removed.values()) == {"return nil"}
    assert {
        "request.querystring",
        "request.url",
        "upstream_uri",
        "request.headers.authorization",
        "ai.proxy.payload",
    } <= removed.keys()
