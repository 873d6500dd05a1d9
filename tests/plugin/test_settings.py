"""Environment variables: what they mean, and that none of them keeps vLLM from starting."""

import os
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock_vllm_plugin.settings import Settings, read_settings, resource_attributes


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("", "http://127.0.0.1:4318/v1/logs"),
        ("http://collector", "http://collector:4318/v1/logs"),
        ("http://collector:8/", "http://collector:8/v1/logs"),
        ("https://collector.example", "https://collector.example:443/v1/logs"),
        ("https://collector.example/otlp/v1/logs", "https://collector.example:443/otlp/v1/logs"),
        ("http://[::1]:4318", "http://[::1]:4318/v1/logs"),
        ("off", "None"),
        ("OFF", "None"),
    ],
    ids=repr,
)
def test_where_records_are_sent(text, endpoint):
    settings = read_settings({"FAIRCLOCK_OTLP_ENDPOINT": text})
    assert str(settings.endpoint) == endpoint
    assert settings.warnings == ()


@pytest.mark.parametrize(
    "text", ["collector:4317", "grpc://collector", "http://", "http://x:port", "http://me:secret@host", "http://[::1"]
)  # fmt: skip
def test_an_address_that_is_none_turns_it_off_and_says_so(text):
    settings = read_settings({"FAIRCLOCK_OTLP_ENDPOINT": text})
    assert settings.endpoint is None
    (warning,) = settings.warnings
    assert warning.startswith("FAIRCLOCK_OTLP_ENDPOINT: ")
    assert "secret" not in warning


def test_headers_and_numbers():
    settings = read_settings(
        {
            "FAIRCLOCK_OTLP_HEADERS": "Authorization=Bearer%20a%3Db, X-Two = 2",
            "FAIRCLOCK_QUEUE_RECORDS": "7",
            "FAIRCLOCK_FLUSH_SECONDS": "0.5",
            "FAIRCLOCK_STATE_SECONDS": "2",
            "FAIRCLOCK_TIMEOUT_SECONDS": "3",
            "FAIRCLOCK_OTLP_CA": "/etc/ca.pem",
            "FAIRCLOCK_INSTANCE": "gpu-1",
        }
    )
    assert settings == Settings(
        endpoint=read_settings({}).endpoint,
        headers=(("Authorization", "Bearer a=b"), ("X-Two", "2")),
        ca_file="/etc/ca.pem",
        instance="gpu-1",
        queue_records=7,
        flush_seconds=0.5,
        state_seconds=2.0,
        timeout_seconds=3.0,
    )


@pytest.mark.parametrize("text", ["many", "0", "-1", "nan", "inf", "1e99"])
def test_a_number_of_no_use_leaves_the_default(text):
    settings = read_settings({"FAIRCLOCK_QUEUE_RECORDS": text})
    assert settings.queue_records == Settings(endpoint=None).queue_records
    assert settings.warnings[0].startswith("FAIRCLOCK_QUEUE_RECORDS: ")


@given(st.dictionaries(st.sampled_from([
    "FAIRCLOCK_OTLP_ENDPOINT", "FAIRCLOCK_OTLP_HEADERS", "FAIRCLOCK_QUEUE_RECORDS", "FAIRCLOCK_FLUSH_SECONDS",
    "FAIRCLOCK_INSTANCE", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_SERVICE_NAME",
]), st.text()))  # fmt: skip
def test_no_environment_keeps_vllm_from_starting(environment):
    settings = read_settings(environment)
    assert resource_attributes(settings, environment, frontends=1)["service.instance.id"]


@pytest.mark.parametrize(
    ("instance", "environment", "frontends", "named"),
    [
        ("", {}, 1, f"{socket.gethostname()}:{os.getpid()}"),
        ("", {}, 4, f"{socket.gethostname()}:{os.getppid()}"),
        ("", {"OTEL_RESOURCE_ATTRIBUTES": "host.name=gpu-1,x=y"}, 1, f"gpu-1:{os.getpid()}"),
        ("", {"OTEL_RESOURCE_ATTRIBUTES": "service.instance.id=i%2D1"}, 1, "i-1"),
        ("mine", {"OTEL_RESOURCE_ATTRIBUTES": "service.instance.id=i-1"}, 4, "mine"),
    ],
    ids=["host and process", "several API servers of one engine", "a host by its name", "as OpenTelemetry says", "as said here"],
)  # fmt: skip
def test_how_an_engine_is_called(instance, environment, frontends, named):
    settings = Settings(endpoint=None, instance=instance)
    assert resource_attributes(settings, environment, frontends=frontends)["service.instance.id"] == named
