"""Own what ``fairclock init`` looks for on a machine: one module for each kind of thing.

Each says what it found and what it did not, and settles only what follows from it: what could be one thing or another
is said, and left to whoever reads it.
"""
