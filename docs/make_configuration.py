"""Write docs/configuration.md anew from the configuration's models: python docs/make_configuration.py."""  # noqa: INP001 - a program, no package

from pathlib import Path

from fairclock.cli.configuration import Configuration
from fairclock.config.reference import reference

if __name__ == "__main__":
    Path(__file__).with_name("configuration.md").write_text(reference(Configuration), encoding="utf-8")
