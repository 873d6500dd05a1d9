"""Run the command line as ``python -m fairclock``."""

from fairclock.cli import main

main()
