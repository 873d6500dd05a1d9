CREATE TABLE IF NOT EXISTS gateway_requests_local ON CLUSTER fairclock
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
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/gateway_requests', '{replica}', first_wins)
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (received_at, content_hash, k)
SETTINGS replicated_deduplication_window = 1000;
CREATE TABLE IF NOT EXISTS gateway_requests ON CLUSTER fairclock AS gateway_requests_local
ENGINE = Distributed('fairclock', 'fairclock', gateway_requests_local, cityHash64(if(request_id = '', toString(content_hash), request_id)));
CREATE TABLE IF NOT EXISTS engine_requests_local ON CLUSTER fairclock
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
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/engine_requests', '{replica}', first_wins)
PARTITION BY toYYYYMMDD(arrived_at)
ORDER BY (arrived_at, content_hash, k)
SETTINGS replicated_deduplication_window = 1000;
CREATE TABLE IF NOT EXISTS engine_requests ON CLUSTER fairclock AS engine_requests_local
ENGINE = Distributed('fairclock', 'fairclock', engine_requests_local, cityHash64(if(join_id = '', toString(content_hash), join_id)));
CREATE TABLE IF NOT EXISTS dead_letters_local ON CLUSTER fairclock
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
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/dead_letters', '{replica}', first_wins)
ORDER BY (kind, content_hash, k)
TTL toDateTime(stored_at) + INTERVAL 14 DAY;
CREATE TABLE IF NOT EXISTS dead_letters ON CLUSTER fairclock AS dead_letters_local
ENGINE = Distributed('fairclock', 'fairclock', dead_letters_local, 0);
CREATE TABLE IF NOT EXISTS covered_local ON CLUSTER fairclock
(
    kind LowCardinality(String),
    source LowCardinality(String),
    covered_from DateTime64(6, 'UTC'),
    covered_to DateTime64(6, 'UTC'),
    stored_at DateTime64(6, 'UTC')
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/covered', '{replica}')
ORDER BY (kind, source, covered_from, covered_to, stored_at);
CREATE TABLE IF NOT EXISTS covered ON CLUSTER fairclock AS covered_local
ENGINE = Distributed('fairclock', 'fairclock', covered_local, 0);
CREATE TABLE IF NOT EXISTS write_log_local ON CLUSTER fairclock
(
    batch UUID,
    at DateTime64(6, 'UTC'),
    state Int8
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/write_log', '{replica}')
ORDER BY at
TTL toDateTime(at) + INTERVAL 1 DAY;
CREATE TABLE IF NOT EXISTS write_log ON CLUSTER fairclock AS write_log_local
ENGINE = Distributed('fairclock', 'fairclock', write_log_local, 0);
CREATE TABLE IF NOT EXISTS requests_local ON CLUSTER fairclock
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
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/requests', '{replica}')
PARTITION BY toYYYYMM(received_at)
ORDER BY (tenant, received_at)
SETTINGS replicated_deduplication_window = 1000;
CREATE TABLE IF NOT EXISTS requests ON CLUSTER fairclock AS requests_local
ENGINE = Distributed('fairclock', 'fairclock', requests_local, cityHash64(tenant, toStartOfHour(received_at)));
CREATE TABLE IF NOT EXISTS seals_local ON CLUSTER fairclock
(
    hour DateTime64(6, 'UTC'),
    seal UInt64,
    as_of DateTime64(6, 'UTC'),
    stored_at DateTime64(6, 'UTC'),
    rows UInt64,
    digest UInt64
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/seals', '{replica}')
ORDER BY (hour, seal);
CREATE TABLE IF NOT EXISTS seals ON CLUSTER fairclock AS seals_local
ENGINE = Distributed('fairclock', 'fairclock', seals_local, 0);
CREATE TABLE IF NOT EXISTS seal_confirmations_local ON CLUSTER fairclock
(
    hour DateTime64(6, 'UTC'),
    seal UInt64,
    as_of DateTime64(6, 'UTC'),
    stored_at DateTime64(6, 'UTC')
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/seal_confirmations', '{replica}')
ORDER BY (hour, seal);
CREATE TABLE IF NOT EXISTS seal_confirmations ON CLUSTER fairclock AS seal_confirmations_local
ENGINE = Distributed('fairclock', 'fairclock', seal_confirmations_local, 0);
CREATE TABLE IF NOT EXISTS tokens_local ON CLUSTER fairclock
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
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/tokens', '{replica}', version)
ORDER BY id;
CREATE TABLE IF NOT EXISTS tokens ON CLUSTER fairclock AS tokens_local
ENGINE = Distributed('fairclock', 'fairclock', tokens_local, 0);
ALTER TABLE gateway_requests_local ON CLUSTER fairclock ADD COLUMN IF NOT EXISTS gateway_queue_us Nullable(Int64) CODEC(T64, ZSTD(1)) AFTER forwarded_us;
ALTER TABLE gateway_requests ON CLUSTER fairclock ADD COLUMN IF NOT EXISTS gateway_queue_us Nullable(Int64) CODEC(T64, ZSTD(1)) AFTER forwarded_us;
ALTER TABLE gateway_requests_local ON CLUSTER fairclock ADD COLUMN IF NOT EXISTS gateway_first_token_us Nullable(Int64) CODEC(T64, ZSTD(1)) AFTER gateway_queue_us;
ALTER TABLE gateway_requests ON CLUSTER fairclock ADD COLUMN IF NOT EXISTS gateway_first_token_us Nullable(Int64) CODEC(T64, ZSTD(1)) AFTER gateway_queue_us;
ALTER TABLE gateway_requests_local ON CLUSTER fairclock ADD COLUMN IF NOT EXISTS request_started_at Nullable(DateTime64(6, 'UTC')) CODEC(ZSTD(1)) AFTER gateway_first_token_us;
ALTER TABLE gateway_requests ON CLUSTER fairclock ADD COLUMN IF NOT EXISTS request_started_at Nullable(DateTime64(6, 'UTC')) CODEC(ZSTD(1)) AFTER gateway_first_token_us;
