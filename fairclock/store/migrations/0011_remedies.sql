-- One row is one thing said about an exclusion: proposed, accepted, disputed, revoked. Rows are only added.
CREATE TABLE IF NOT EXISTS exclusions
(
    id String,
    sequence UInt32,
    contract LowCardinality(String),
    clause LowCardinality(String),
    state LowCardinality(String),
    starts_at DateTime64(6, 'UTC'),
    ends_at Nullable(DateTime64(6, 'UTC')),
    recurrence String,
    time_zone LowCardinality(String),
    reason String,
    evidence String,
    notice_at Nullable(DateTime64(6, 'UTC')),
    notice_to Array(String),
    answer_by DateTime64(6, 'UTC'),
    author String,
    comment String,
    answer_evidence String,
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (contract, id, sequence, stored_at);

-- One row is one thing said about a degradation; the greatest sequence of an id holds. Rows are only added.
CREATE TABLE IF NOT EXISTS degradations
(
    id String,
    sequence UInt32,
    mode LowCardinality(String),
    level LowCardinality(String),
    starts_at DateTime64(6, 'UTC'),
    ends_at Nullable(DateTime64(6, 'UTC')),
    tenants Array(String),
    reason String,
    author String,
    origin LowCardinality(String),
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (id, sequence, stored_at);
