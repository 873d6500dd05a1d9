"""Own who may ask the console what: callers, sessions, forms, failures, the headers of every answer."""
