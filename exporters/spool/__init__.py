"""Own what is not delivered yet: frames on the disk, from their arrival until the store has them."""

from exporters.spool.cursor import Position
from exporters.spool.spool import DEFAULT_SEGMENT_BYTES, Spool
from exporters.spool.statistics import SpoolStatistics

__all__ = ["DEFAULT_SEGMENT_BYTES", "Position", "Spool", "SpoolStatistics"]
