"""Kernel and face of Fairclock: errors, model, tables, configuration, store, documents, console, demo, CLI."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("fairclock")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"
