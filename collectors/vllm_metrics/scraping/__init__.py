"""Scrape the metrics of many engines: find them, ask them in their rhythm, hand on what they answer."""
