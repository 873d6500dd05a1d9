"""Own the measurements behind the targets in the documentation; ``make bench`` runs them."""
