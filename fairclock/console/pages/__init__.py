"""Own the console's pages: a reading and how it is looked at in, one HTML page out."""
