"""Carry events out."""
