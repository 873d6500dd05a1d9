"""Read the world and yield events: gateway logs, OTLP spans."""
