-- What one version of a contract counted in one minute; the arrays have an entry an objective, in the file's order,
-- or none at all where no request came.
-- Rows are only added: of one minute the row with the greatest (as_of, stored_at) holds. `digest` is of what
-- was counted and read through. A cache of `requests`.
CREATE TABLE IF NOT EXISTS sli_slices
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
ORDER BY (contract, version, minute, as_of, stored_at);

-- Up to which instant a version's slices hold whatever had been stored; read it grouped, with max(as_of).
CREATE TABLE IF NOT EXISTS slice_progress
(
    contract LowCardinality(String),
    version LowCardinality(String),
    inputs LowCardinality(String),
    as_of DateTime64(6, 'UTC')
)
ENGINE = ReplacingMergeTree(as_of)
ORDER BY (contract, version, inputs);
