"""Own the bundle: all that somebody without Fairclock needs to count a report again, and the program that does."""

from sla.bundle.issued import latest_issued
from sla.bundle.writing import bundle_name, write_bundle, zipped

__all__ = ["bundle_name", "latest_issued", "write_bundle", "zipped"]
