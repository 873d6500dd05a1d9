-- Raw events. A merge keeps the row with the largest first_wins, which is the copy that was stored first.
-- Identity is the content (its 128-bit hash) plus k, its k-th occurrence within one file generation or stream.

CREATE TABLE IF NOT EXISTS gateway_requests
(
    received_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    content_hash UInt128 CODEC(NONE),
    k UInt16 CODEC(ZSTD(1)),
    trace_id FixedString(16) CODEC(NONE),
    request_id String CODEC(ZSTD(1)),
    tenant LowCardinality(String),
    method LowCardinality(String),
    route LowCardinality(String),
    model LowCardinality(String),
    region LowCardinality(String),
    server LowCardinality(String),
    upstream LowCardinality(String),
    status UInt16 CODEC(ZSTD(1)),
    outcome LowCardinality(String),
    error_code LowCardinality(String),
    stream Nullable(UInt8),
    inference_mode LowCardinality(String),
    model_version LowCardinality(String),
    priority LowCardinality(String),
    finish_reason LowCardinality(String),
    attempts UInt8,
    responded_us Int64 CODEC(T64, ZSTD(1)),
    connected_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    forwarded_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    request_bytes UInt64 CODEC(T64, ZSTD(1)),
    bytes_sent UInt64 CODEC(T64, ZSTD(1)),
    prompt_tokens Nullable(UInt32) CODEC(T64, ZSTD(1)),
    cached_tokens Nullable(UInt32) CODEC(T64, ZSTD(1)),
    completion_tokens Nullable(UInt32) CODEC(T64, ZSTD(1)),
    simulated UInt8,
    source LowCardinality(String),
    first_wins UInt64 CODEC(Delta(8), ZSTD(1)),
    stored_at DateTime64(6, 'UTC') ALIAS fromUnixTimestamp64Micro(toInt64(9000000000000000 - first_wins), 'UTC'),
    INDEX stored first_wins TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(first_wins)
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (received_at, content_hash, k)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS engine_requests
(
    arrived_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    content_hash UInt128 CODEC(NONE),
    k UInt16 CODEC(ZSTD(1)),
    trace_id FixedString(16) CODEC(NONE),
    span_id String CODEC(ZSTD(1)),
    request_id String CODEC(ZSTD(1)),
    join_id String CODEC(ZSTD(1)),
    sequence UInt16 CODEC(ZSTD(1)),
    instance LowCardinality(String),
    model LowCardinality(String),
    end_to_end_us Int64 CODEC(T64, ZSTD(1)),
    queue_us Int64 CODEC(T64, ZSTD(1)),
    prefill_us Int64 CODEC(T64, ZSTD(1)),
    decode_us Int64 CODEC(T64, ZSTD(1)),
    time_to_first_token_us Nullable(Int64) CODEC(T64, ZSTD(1)),
    prompt_tokens Nullable(UInt32) CODEC(T64, ZSTD(1)),
    cached_tokens Nullable(UInt32) CODEC(T64, ZSTD(1)),
    completion_tokens Nullable(UInt32) CODEC(T64, ZSTD(1)),
    finish_reason LowCardinality(String),
    simulated UInt8,
    source LowCardinality(String),
    first_wins UInt64 CODEC(Delta(8), ZSTD(1)),
    stored_at DateTime64(6, 'UTC') ALIAS fromUnixTimestamp64Micro(toInt64(9000000000000000 - first_wins), 'UTC'),
    INDEX stored first_wins TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(first_wins)
PARTITION BY toYYYYMMDD(arrived_at)
ORDER BY (arrived_at, content_hash, k)
SETTINGS non_replicated_deduplication_window = 1000;

-- What could not be read: why, and the shape of it (letters and digits masked, so that no text enters).
CREATE TABLE IF NOT EXISTS dead_letters
(
    stored_at DateTime64(6, 'UTC'),
    kind LowCardinality(String),
    source LowCardinality(String),
    reason LowCardinality(String),
    excerpt String CODEC(ZSTD(3)),
    content_hash UInt128,
    k UInt16,
    first_wins UInt64
)
ENGINE = ReplacingMergeTree(first_wins)
ORDER BY (kind, content_hash, k)
TTL toDateTime(stored_at) + INTERVAL 14 DAY;

-- Intervals of event time that were read through, by source.
CREATE TABLE IF NOT EXISTS covered
(
    kind LowCardinality(String),
    source LowCardinality(String),
    covered_from DateTime64(6, 'UTC'),
    covered_to DateTime64(6, 'UTC'),
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (kind, source, covered_from, covered_to, stored_at);

-- Writes in flight: +1 when a batch is about to be written, -1 when it is committed or was given up.
CREATE TABLE IF NOT EXISTS write_log
(
    batch UUID,
    at DateTime64(6, 'UTC'),
    state Int8
)
ENGINE = MergeTree
ORDER BY at
TTL toDateTime(at) + INTERVAL 1 DAY;
