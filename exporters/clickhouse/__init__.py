"""Own the way into ClickHouse: frames become batches, batches become rows, and what fails is tried again."""

from exporters.clickhouse.batches import Adapter, RowStore, lines_of
from exporters.clickhouse.direct import DirectDelivery
from exporters.clickhouse.writer import Writer, WriterStatistics

__all__ = ["Adapter", "DirectDelivery", "RowStore", "Writer", "WriterStatistics", "lines_of"]
