"""The cost book: what the machines' time costs, divided among those who used it, without a remainder."""
