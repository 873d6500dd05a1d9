-- One row is one thing that somebody changed, or tried to change, through the console or its API. Rows are only added.
CREATE TABLE IF NOT EXISTS audit_log
(
    id String,
    who String,
    scope LowCardinality(String),
    address String,
    action LowCardinality(String),
    subject String,
    outcome LowCardinality(String),
    detail String,
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (stored_at, id);
