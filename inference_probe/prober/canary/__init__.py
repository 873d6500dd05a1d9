"""Own the comparison of two versions side by side, step by step, and what it recommends."""
