"""Grafana dashboards (later issues)."""
