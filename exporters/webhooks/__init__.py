"""Carry finished alert events to the people and programs that asked for them; nothing here knows a contract."""
