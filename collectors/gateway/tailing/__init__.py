"""Own how growing logs are followed: every line once, whatever is done to the file meanwhile."""

from collectors.gateway.tailing.statistics import TailStatistics
from collectors.gateway.tailing.tailer import Tailer

__all__ = ["TailStatistics", "Tailer"]
