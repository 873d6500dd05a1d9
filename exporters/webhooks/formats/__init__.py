"""Own the wire formats, one module each: what a service is sent, and what its answer means."""
