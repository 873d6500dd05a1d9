"""Own what ``fairclock probe run`` does in each of its modes."""
