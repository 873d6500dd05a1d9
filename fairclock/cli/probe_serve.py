"""Own ``fairclock probe serve``: a real vLLM that says with every answer what happened inside."""

from __future__ import annotations

import click


@click.command()
def serve() -> None:
    """Serve a model behind an OpenAI-compatible API whose every answer carries its own truth."""
