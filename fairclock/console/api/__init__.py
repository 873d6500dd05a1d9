"""Own the API under ``/api/v1``: the models that the pages render, as JSON, and the document that describes it."""
