-- One row is one version of a price book as it was first used. Rows are only added, and a version never changes.
CREATE TABLE IF NOT EXISTS prices
(
    book LowCardinality(String),
    version String,
    effective_from DateTime64(6, 'UTC'),
    sha256 String,
    body String CODEC(ZSTD(3)),
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (book, version, stored_at);

-- One row is one entry of one tenant's chain. Rows are only added; of two with one sequence the one stored first holds,
-- and whatever follows the other is void. Everything but stored_at is in body, whose hash the next entry names.
CREATE TABLE IF NOT EXISTS ledger_entries
(
    tenant LowCardinality(String),
    sequence UInt64,
    kind LowCardinality(String),
    starts_at DateTime64(6, 'UTC'),
    ends_at DateTime64(6, 'UTC'),
    period LowCardinality(String),
    about LowCardinality(String),
    price_version LowCardinality(String),
    currency LowCardinality(String),
    amount String,
    content String,
    reverses UInt64,
    previous String,
    hash String,
    body String CODEC(ZSTD(3)),
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (tenant, sequence, stored_at);

-- One row says how far a tenant's chain reached when entries were added: what is cut off its end is missed by it.
CREATE TABLE IF NOT EXISTS ledger_heads
(
    tenant LowCardinality(String),
    sequence UInt64,
    hash String,
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (tenant, sequence, stored_at);

-- One row says what was rated: the hours from starts_at to ends_at, as they were known at as_of.
CREATE TABLE IF NOT EXISTS ledger_ratings
(
    as_of DateTime64(6, 'UTC'),
    starts_at DateTime64(6, 'UTC'),
    ends_at DateTime64(6, 'UTC'),
    prices_sha256 String,
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (as_of, stored_at);

-- One row is one thing said about a credit: computed, claimed, granted, refused. Rows are only added; the greatest
-- sequence of an id holds, and of two with one sequence the one stored first.
CREATE TABLE IF NOT EXISTS credits
(
    id String,
    sequence UInt32,
    contract LowCardinality(String),
    month LowCardinality(String),
    objective String,
    revision UInt32,
    state LowCardinality(String),
    currency LowCardinality(String),
    amount String,
    opens_at DateTime64(6, 'UTC'),
    closes_at Nullable(DateTime64(6, 'UTC')),
    decide_by Nullable(DateTime64(6, 'UTC')),
    author String,
    comment String,
    evidence String,
    body String CODEC(ZSTD(3)),
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (contract, id, sequence, stored_at);

-- One row is one statement of charges as it was issued: its number, and the bytes of its JSON.
CREATE TABLE IF NOT EXISTS invoices
(
    number String,
    tenant LowCardinality(String),
    period LowCardinality(String),
    kind LowCardinality(String),
    currency LowCardinality(String),
    sha256 String,
    body String CODEC(ZSTD(3)),
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (tenant, period, number, stored_at);
