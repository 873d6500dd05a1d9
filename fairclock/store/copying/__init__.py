"""Own how everything in one store comes into another, and how it is shown that nothing was lost on the way."""
