"""Own the alerts as they are run: what is measured, which rules look at it, what becomes of each alert, and its words.

`sla.alerts` says when a condition holds; here is everything with a store. `engine` makes one pass.
"""
