-- Joined requests, written hour by hour under a seal number that is never used again. The row in `seals`
-- comes last: rows without it belong to a seal that was never finished and are not read.

CREATE TABLE IF NOT EXISTS requests
(
    tenant LowCardinality(String),
    received_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    request_id String CODEC(ZSTD(1)),
    trace_id FixedString(16) CODEC(NONE),
    content_hash UInt128 CODEC(NONE),
    k UInt16 CODEC(ZSTD(1)),
    source LowCardinality(String),
    model LowCardinality(String),
    route LowCardinality(String),
    region LowCardinality(String),
    upstream LowCardinality(String),
    status UInt16 CODEC(ZSTD(1)),
    outcome LowCardinality(String),
    error_code LowCardinality(String),
    stream Nullable(UInt8),
    inference_mode LowCardinality(String),
    model_version LowCardinality(String),
    attempts UInt8,
    end_to_end_us Int64 CODEC(T64, ZSTD(1)),
    connected_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    forwarded_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    queue_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    prefill_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    decode_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    frontend_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    time_to_first_token_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    prompt_tokens Nullable(UInt32) CODEC(T64, ZSTD(1)),
    cached_tokens Nullable(UInt32) CODEC(T64, ZSTD(1)),
    completion_tokens Nullable(UInt32) CODEC(T64, ZSTD(1)),
    decode_tokens Nullable(UInt32) CODEC(T64, ZSTD(1)),
    engine LowCardinality(String),
    simulated UInt8,
    seal UInt64 CODEC(Delta(8), ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(received_at)
ORDER BY (tenant, received_at)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a finished seal. as_of: the writers' watermark that the hour was read at.
CREATE TABLE IF NOT EXISTS seals
(
    hour DateTime64(6, 'UTC'),
    seal UInt64,
    as_of DateTime64(6, 'UTC'),
    stored_at DateTime64(6, 'UTC'),
    rows UInt64,
    digest UInt64
)
ENGINE = MergeTree
ORDER BY (hour, seal);

-- A sealed hour was read again and found unchanged: what was stored up to as_of is in its seal.
CREATE TABLE IF NOT EXISTS seal_confirmations
(
    hour DateTime64(6, 'UTC'),
    seal UInt64,
    as_of DateTime64(6, 'UTC'),
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (hour, seal);
