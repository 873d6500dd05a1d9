"""Own the pricing rules, one a module.

A rule of the formula is a function from (usage, version) to charges; a rule of the close is one from the month's
volumes to adjustments.
"""
