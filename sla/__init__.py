"""Contracts, clocks, calendars, percentiles, evaluation, reports."""
