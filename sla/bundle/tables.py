"""Own the bundle's Parquet files: rows in one order, the same bytes for the same rows, a piece at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

_TYPES = {"text": pa.string(), "count": pa.int64()}


def write_table(
    path: Path, columns: Mapping[str, str], pieces: Iterable[Mapping[str, Sequence[object]]]
) -> int:
    """Write `pieces`, each by columns and a row group of its own, and return how many rows they were.

    columns: ``text`` or ``count`` (64 bits) by name; both may be unknown.
    """
    schema = pa.schema([pa.field(name, _TYPES[kind]) for name, kind in columns.items()])
    rows = 0
    with pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level=3,
        use_dictionary=[name for name, kind in columns.items() if kind == "text"],
        write_statistics=False,
        version="2.6",
        store_schema=False,
    ) as writer:
        for piece in pieces:
            table = pa.table([pa.array(piece[field.name], field.type) for field in schema], schema=schema)
            if table.num_rows:
                writer.write_table(table, row_group_size=table.num_rows)
                rows += table.num_rows
    return rows
