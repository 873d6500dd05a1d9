-- What the plugin inside vLLM knows beyond a span: of a request, and of the engine itself.
-- A request that both report is two rows here, one of each reporter; fairclock/store/sql/engine_rows.sql makes one of them.

ALTER TABLE engine_requests
    ADD COLUMN IF NOT EXISTS reporter LowCardinality(String) DEFAULT 'span' AFTER finish_reason,
    ADD COLUMN IF NOT EXISTS engine_rank Nullable(UInt16) AFTER reporter,
    ADD COLUMN IF NOT EXISTS preemptions Nullable(UInt32) CODEC(T64, ZSTD(1)) AFTER engine_rank;

CREATE TABLE IF NOT EXISTS engine_states
(
    at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    content_hash UInt128 CODEC(NONE),
    k UInt16 CODEC(ZSTD(1)),
    event LowCardinality(String),
    instance LowCardinality(String),
    engine_rank Nullable(UInt16),
    model LowCardinality(String),
    running Nullable(UInt32) CODEC(T64, ZSTD(1)),
    waiting Nullable(UInt32) CODEC(T64, ZSTD(1)),
    kv_cache_usage_ratio Nullable(Float64),
    sleep_level Nullable(UInt8),
    device LowCardinality(String),
    gpus Nullable(UInt16),
    tensor_parallel Nullable(UInt16),
    pipeline_parallel Nullable(UInt16),
    data_parallel Nullable(UInt16),
    max_num_seqs Nullable(UInt32),
    max_num_batched_tokens Nullable(UInt32),
    max_model_len Nullable(UInt32),
    kv_cache_blocks Nullable(UInt64),
    kv_cache_block_tokens Nullable(UInt32),
    kv_cache_tokens Nullable(UInt64),
    vllm_version LowCardinality(String),
    lost_records Nullable(UInt64),
    lost_reason LowCardinality(String),
    lost_from Nullable(DateTime64(6, 'UTC')),
    lost_to Nullable(DateTime64(6, 'UTC')),
    source LowCardinality(String),
    first_wins UInt64 CODEC(Delta(8), ZSTD(1)),
    stored_at DateTime64(6, 'UTC') ALIAS fromUnixTimestamp64Micro(toInt64(9000000000000000 - first_wins), 'UTC'),
    INDEX stored first_wins TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(first_wins)
PARTITION BY toYYYYMMDD(at)
ORDER BY (at, content_hash, k)
SETTINGS non_replicated_deduplication_window = 1000;
