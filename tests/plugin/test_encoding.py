"""What is written by hand is what OpenTelemetry's own classes read, whatever the values are."""

import math

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from fairclock_vllm_plugin.encoding import Attribute, Envelope, Event
from tests.plugin.stats import plain

KEYS = st.text(min_size=1, max_size=200)
VALUES = (
    st.integers(-(2**63), 2**63 - 1)
    | st.integers(0, 20_000)
    | st.floats()
    | st.text(st.characters(codec="utf-8"))
)


def written(attribute, value):
    if isinstance(value, int):
        return attribute.integer(value)
    return attribute.double(value) if isinstance(value, float) else attribute.text(value)


@given(
    records=st.lists(
        st.tuples(st.integers(0, 2**64 - 1), st.lists(st.tuples(KEYS, VALUES), max_size=5)), max_size=4
    ),
    resource=st.dictionaries(KEYS, st.text(st.characters(codec="utf-8")), max_size=3),
)
def test_what_is_written_comes_back(records, resource):
    event = Event("fairclock.test")
    bodies = [
        event.record(time_ns, b"".join(written(Attribute(key), value) for key, value in attributes))
        for time_ns, attributes in records
    ]
    request = ExportLogsServiceRequest.FromString(
        Envelope(resource, scope="scope", version="1").request(bodies)
    )
    (resource_logs,) = request.resource_logs
    assert {each.key: plain(each.value) for each in resource_logs.resource.attributes} == resource
    (scope_logs,) = resource_logs.scope_logs
    assert (scope_logs.scope.name, scope_logs.scope.version) == ("scope", "1")
    assert len(scope_logs.log_records) == len(records)
    for record, (time_ns, attributes) in zip(scope_logs.log_records, records, strict=True):
        assert record.time_unix_nano == record.observed_time_unix_nano == time_ns
        assert record.event_name == "fairclock.test"
        found = [(each.key, plain(each.value)) for each in record.attributes]
        assert found[0] == ("event.name", "fairclock.test")
        for (key, value), (wanted_key, wanted) in zip(found[1:], attributes, strict=True):
            assert key == wanted_key
            assert value == wanted or (math.isnan(value) and math.isnan(wanted))
        assert not record.HasField("body")


def test_half_a_character_is_written_as_a_question_mark():
    record = Event("e").record(1, Attribute("k").text("a\ud800b"))
    body = Envelope({}, scope="s", version="1").request([record])
    found = ExportLogsServiceRequest.FromString(body).resource_logs[0].scope_logs[0].log_records[0]
    assert found.attributes[1].value.string_value == "a?b"
