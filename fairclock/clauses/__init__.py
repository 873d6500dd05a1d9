"""Own files that are made of clauses: read as text, validated whole, every problem with path, finding and remedy.

Contracts and price books are such files; what their clauses mean is told where they are.
"""
