"""Own the streams of ``nvidia-smi --query-gpu=… --format=csv``."""
