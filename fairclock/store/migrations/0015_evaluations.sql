-- What a contract's month came to: one row a revision (contract, month, revision), written only where it differs from
-- the one before. Rows are only added; of one revision the row that was stored first holds.
CREATE TABLE IF NOT EXISTS evaluations
(
    contract LowCardinality(String),
    month LowCardinality(String),
    revision UInt32,
    as_of DateTime64(6, 'UTC'),
    digest String,
    inputs String,
    figures String CODEC(ZSTD(3)),
    program LowCardinality(String),
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (contract, month, revision, stored_at)
SETTINGS non_replicated_deduplication_window = 10000;
