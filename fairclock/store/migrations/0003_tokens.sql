-- Who may do what: a row when a token is made, another when it is revoked. The token itself is not kept.
CREATE TABLE IF NOT EXISTS tokens
(
    id String,
    name String,
    scope LowCardinality(String),
    tenant String,
    token_sha256 String,
    created_at DateTime64(6, 'UTC'),
    revoked_at Nullable(DateTime64(6, 'UTC')),
    version UInt8
)
ENGINE = ReplacingMergeTree(version)
ORDER BY id;
