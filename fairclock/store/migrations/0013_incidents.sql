-- What was said of one incident of one objective at one instant. Rows are only added: of one id the row with the
-- greatest (as_of, stored_at) holds. `state` is ongoing, ended, or withdrawn: what was stored later says that there was none.
-- `evidence` is a JSON list of what else was true then.
CREATE TABLE IF NOT EXISTS incidents
(
    id String,
    contract LowCardinality(String),
    objective LowCardinality(String),
    version LowCardinality(String),
    state LowCardinality(String),
    starts_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    ends_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    requests UInt64 CODEC(T64, ZSTD(1)),
    bad UInt64 CODEC(T64, ZSTD(1)),
    bad_minutes UInt32 CODEC(T64, ZSTD(1)),
    tenants Array(String) CODEC(ZSTD(1)),
    worst_us Nullable(Int64) CODEC(ZSTD(1)),
    worst_bad UInt64 CODEC(T64, ZSTD(1)),
    worst_of UInt64 CODEC(T64, ZSTD(1)),
    unanswered UInt64 CODEC(T64, ZSTD(1)),
    evidence String CODEC(ZSTD(3)),
    as_of DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    stored_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (contract, objective, id, as_of, stored_at);

-- Up to which instant the incidents of a contract follow from its slices; read it with max(as_of).
CREATE TABLE IF NOT EXISTS incident_progress
(
    contract LowCardinality(String),
    as_of DateTime64(6, 'UTC')
)
ENGINE = ReplacingMergeTree(as_of)
ORDER BY contract;
