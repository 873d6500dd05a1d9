"""Own how spans and metrics of the OpenTelemetry SDK become what OTLP carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue
from opentelemetry.sdk.metrics.export import Gauge, Sum

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from opentelemetry.sdk.metrics.export import AggregationTemporality, Metric, MetricsData
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan

_SPAN_BYTES, _TRACE_BYTES = 8, 16


def trace_request(spans: Iterable[ReadableSpan]) -> bytes:
    """Return the export request of `spans`, those of one resource together."""
    request = ExportTraceServiceRequest()
    scopes: dict[tuple[int, tuple[str, str | None] | None], Any] = {}
    for span in spans:
        scope = span.instrumentation_scope
        key = (id(span.resource), None if scope is None else (scope.name, scope.version))
        place = scopes.get(key)
        if place is None:
            of_resource = request.resource_spans.add()
            of_resource.resource.attributes.extend(attributes(span.resource.attributes))
            place = scopes[key] = of_resource.scope_spans.add()
            if scope is not None:
                place.scope.name, place.scope.version = scope.name, scope.version or ""
        _add(place.spans.add(), span)
    content: bytes = request.SerializeToString()
    return content


def metrics_request(data: MetricsData) -> bytes:
    """Return the export request of gauges and sums; Fairclock's own telemetry has no others."""
    request = ExportMetricsServiceRequest()
    for found in data.resource_metrics:
        of_resource = request.resource_metrics.add()
        of_resource.resource.attributes.extend(_resource(found.resource))
        for scope in found.scope_metrics:
            of_scope = of_resource.scope_metrics.add()
            of_scope.scope.name = scope.scope.name
            for metric in scope.metrics:
                _add_metric(of_scope.metrics.add(), metric)
    content: bytes = request.SerializeToString()
    return content


def attributes(values: Mapping[str, object]) -> list[KeyValue]:
    """Return attributes as OTLP has them."""
    return [KeyValue(key=key, value=_value(value)) for key, value in values.items()]


def _resource(resource: Resource) -> list[KeyValue]:
    return attributes(resource.attributes)


def _value(value: object) -> AnyValue:
    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case str():
            return AnyValue(string_value=value)
        case tuple() | list():
            return AnyValue(array_value=ArrayValue(values=[_value(each) for each in value]))
    raise TypeError(f"an attribute cannot be {value!r}")


def _add(target: Any, span: ReadableSpan) -> None:
    context = span.get_span_context()
    assert context is not None  # noqa: S101 - every span that ended has one
    found: dict[str, object] = {
        "trace_id": context.trace_id.to_bytes(_TRACE_BYTES, "big"),
        "span_id": context.span_id.to_bytes(_SPAN_BYTES, "big"),
        "name": span.name,
        # the SDK's kinds begin at 0, those of OTLP at 1
        "kind": span.kind.value + 1,
        "start_time_unix_nano": span.start_time or 0,
        "end_time_unix_nano": span.end_time or 0,
    }
    if span.parent is not None:
        found["parent_span_id"] = span.parent.span_id.to_bytes(_SPAN_BYTES, "big")
    for name, value in found.items():
        setattr(target, name, value)
    target.attributes.extend(attributes(span.attributes or {}))
    target.status.code = span.status.status_code.value
    target.status.message = span.status.description or ""


def _add_metric(target: Any, metric: Metric) -> None:
    target.name, target.description, target.unit = metric.name, metric.description or "", metric.unit or ""
    data = metric.data
    if isinstance(data, Sum):
        target.sum.is_monotonic = data.is_monotonic
        target.sum.aggregation_temporality = _temporality(data.aggregation_temporality)
        _add_points(target.sum.data_points, data.data_points)
    elif isinstance(data, Gauge):
        _add_points(target.gauge.data_points, data.data_points)
    else:
        raise TypeError(f"{metric.name} is neither a gauge nor a sum")


def _temporality(temporality: AggregationTemporality) -> int:
    return int(temporality.value)


def _add_points(target: Any, points: Sequence[Any]) -> None:
    for point in points:
        added = target.add()
        added.attributes.extend(attributes(point.attributes or {}))
        added.start_time_unix_nano = point.start_time_unix_nano or 0
        added.time_unix_nano = point.time_unix_nano
        added.as_double = float(point.value)
