"""OTLP traces: requests in, canonical engine lines out."""
