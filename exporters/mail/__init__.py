"""Own mail: the server that it goes through, and one message."""
