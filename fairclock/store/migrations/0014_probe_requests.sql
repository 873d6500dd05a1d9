-- One row is one probe: when it was meant to be sent and when it was, what came of it, how long it took, and what the
-- engine that answered said of it. Rows are only added: of one id the row stored first holds.
-- `tenant` is whose traffic it stands for; empty: everybody's. Durations count from `sent_at`, on the prober's own clock;
-- those of the engine are on the engine's.
CREATE TABLE IF NOT EXISTS probe_requests
(
    id String CODEC(ZSTD(1)),
    probe LowCardinality(String),
    prober LowCardinality(String),
    target LowCardinality(String),
    tenant LowCardinality(String),
    model LowCardinality(String),
    region LowCardinality(String),
    stream UInt8,
    outcome LowCardinality(String),
    status UInt16 CODEC(ZSTD(1)),
    error String CODEC(ZSTD(1)),
    intended_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    sent_at Nullable(DateTime64(6, 'UTC')) CODEC(ZSTD(1)),
    first_token_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    done_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    prompt_tokens Nullable(UInt32) CODEC(T64, ZSTD(1)),
    completion_tokens Nullable(UInt32) CODEC(T64, ZSTD(1)),
    engine String CODEC(ZSTD(1)),
    engine_request_id String CODEC(ZSTD(1)),
    engine_end_to_end_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    engine_queue_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    engine_prefill_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    engine_decode_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    engine_first_token_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    stored_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(intended_at)
ORDER BY (intended_at, id, stored_at);
