"""Own the configuration file: how it is found, read and validated as a whole.

Each package describes its own section (a `Section`); the command line composes them into one model and hands
it to `load_configuration`.
"""

from fairclock.config.files import CONFIGURATION_FILE, find_file, load_configuration, parse_configuration
from fairclock.config.section import Section
from fairclock.config.values import ByteCount, FilePath, Listening, Seconds, Share, refuse

__all__ = [
    "CONFIGURATION_FILE",
    "ByteCount",
    "FilePath",
    "Listening",
    "Seconds",
    "Section",
    "Share",
    "find_file",
    "load_configuration",
    "parse_configuration",
    "refuse",
]
