-- The index of slices, by 256 rows instead of 8,192, and blocks that hold as few: the last hours of a hundred contracts
-- are a hundred short stretches of this table, of which each was read by thousands of rows. What is kept stays the same.
CREATE OR REPLACE TABLE sli_slices
(
    contract LowCardinality(String),
    version LowCardinality(String),
    minute DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    total Array(UInt32) CODEC(ZSTD(1)),
    good Array(UInt32) CODEC(ZSTD(1)),
    bad Array(UInt32) CODEC(ZSTD(1)),
    excluded Array(UInt32) CODEC(ZSTD(1)),
    unknown Array(UInt32) CODEC(ZSTD(1)),
    requests UInt32 CODEC(T64, ZSTD(1)),
    queue_us Int64 CODEC(T64, ZSTD(1)),
    queue_of_us Int64 CODEC(T64, ZSTD(1)),
    gateway_us UInt32 CODEC(T64, ZSTD(1)),
    engine_us UInt32 CODEC(T64, ZSTD(1)),
    seal UInt64 CODEC(Delta(8), ZSTD(1)),
    digest UInt64 CODEC(NONE),
    as_of DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    stored_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(minute)
ORDER BY (contract, version, minute, as_of, stored_at)
SETTINGS index_granularity = 256, min_compress_block_size = 8192
AS SELECT * FROM sli_slices;
