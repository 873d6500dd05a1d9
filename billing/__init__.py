"""Usage, prices, ledger (later issues)."""
