"""Own what is sent to an operator's own backend by OTLP: requests taken apart as spans, and this program's own telemetry."""
