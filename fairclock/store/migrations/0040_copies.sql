-- What was copied into this store from another one: a row when a copy begins, and one when it is whole. Rows are only added.
-- born_at: when the other store's first table was made, which is what it is known by.
CREATE TABLE IF NOT EXISTS copies
(
    source String,
    born_at DateTime64(6, 'UTC'),
    state LowCardinality(String),
    rows UInt64,
    digest String,
    noted_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (born_at, noted_at);
