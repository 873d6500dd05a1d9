"""Own NVML: the library, its calls, a thread for each device, and what happens when one of them does not return."""
