"""Own what ``fairclock doctor`` looks at: one module for each part of the world."""
