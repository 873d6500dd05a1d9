"""Own the way from a sidecar's spool to ``fairclock up``: both ends of it.

Frames travel as the spool's own records in the body of ``POST /v1/frames``; they are acknowledged where they
come from once the spool where they go has them.
"""
