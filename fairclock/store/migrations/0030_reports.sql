-- One row is one report as it was issued: its number and the bytes of its report.json. Rows are only added, and a contract's
-- are a chain: of two with one sequence that continue the same row the one stored first holds, and the other is void.
CREATE TABLE IF NOT EXISTS issued_reports
(
    contract LowCardinality(String),
    sequence UInt32,
    number String,
    month LowCardinality(String),
    starts_at DateTime64(6, 'UTC'),
    ends_at DateTime64(6, 'UTC'),
    revision UInt32,
    as_of DateTime64(6, 'UTC'),
    status LowCardinality(String),
    issued_at DateTime64(6, 'UTC'),
    program LowCardinality(String),
    previous String,
    sha256 String,
    content String CODEC(ZSTD(3)),
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (contract, sequence, stored_at);

-- One row is one detached signature of an issued report: the bytes of its file. Rows are only added.
CREATE TABLE IF NOT EXISTS report_signatures
(
    number String,
    sha256 String,
    public_key String,
    signed_at DateTime64(6, 'UTC'),
    content String CODEC(ZSTD(3)),
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (number, stored_at);

-- One row is what was sealed of one contract's day (day, revision): the bytes of it, whose hash the next row names. Rows
-- are only added, as those of issued_reports are. rests_on: the hash of which hours and seals the day was made of.
CREATE TABLE IF NOT EXISTS day_seals
(
    contract LowCardinality(String),
    sequence UInt32,
    day LowCardinality(String),
    revision UInt32,
    starts_at DateTime64(6, 'UTC'),
    ends_at DateTime64(6, 'UTC'),
    as_of DateTime64(6, 'UTC'),
    rests_on String,
    previous String,
    sha256 String,
    content String CODEC(ZSTD(3)),
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (contract, sequence, stored_at);

-- What became of a day's seal at a destination; the row with the greatest attempt holds.
CREATE TABLE IF NOT EXISTS seal_deliveries
(
    destination LowCardinality(String),
    contract LowCardinality(String),
    sequence UInt32,
    sha256 String,
    attempt UInt32,
    state LowCardinality(String),
    problem String,
    retry_at Nullable(DateTime64(6, 'UTC')),
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (destination, contract, sequence, attempt);
