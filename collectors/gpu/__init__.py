"""Own what GPUs say: through NVML, a DCGM exporter or nvidia-smi, one row a device and second, and events."""
