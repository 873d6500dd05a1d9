"""Own fixed questions whose answers can be judged by counting, so that a mode that answers worse is seen."""
