"""Own how ``up`` and ``collect`` are put together: collectors, the spool, what empties it, and how it is watched."""
