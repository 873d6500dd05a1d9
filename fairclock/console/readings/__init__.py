"""Own what the console shows: readings of the store, each a function that returns a model that pages and the API share."""
