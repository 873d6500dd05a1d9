-- What a prober saw beyond the first token: its run and what kind of run, the handshakes, the first byte, thinking apart from
-- answering, and what a fixed prompt's answer was worth. All empty or NULL where it was not looked at. `engine_arrived_at` is
-- the engine's wall clock. Durations count from `sent_at` as the others do.
ALTER TABLE probe_requests
    ADD COLUMN IF NOT EXISTS run String DEFAULT '' CODEC(ZSTD(1)) AFTER engine_first_token_us,
    ADD COLUMN IF NOT EXISTS number UInt32 DEFAULT 0 CODEC(T64, ZSTD(1)) AFTER run,
    ADD COLUMN IF NOT EXISTS mode LowCardinality(String) DEFAULT '' AFTER number,
    ADD COLUMN IF NOT EXISTS trace_id String DEFAULT '' CODEC(ZSTD(1)) AFTER mode,
    ADD COLUMN IF NOT EXISTS inference_mode LowCardinality(String) DEFAULT '' AFTER trace_id,
    ADD COLUMN IF NOT EXISTS connected_us Nullable(Int64) CODEC(T64, ZSTD(1)) AFTER inference_mode,
    ADD COLUMN IF NOT EXISTS secured_us Nullable(Int64) CODEC(T64, ZSTD(1)) AFTER connected_us,
    ADD COLUMN IF NOT EXISTS first_byte_us Nullable(Int64) CODEC(T64, ZSTD(1)) AFTER secured_us,
    ADD COLUMN IF NOT EXISTS first_reasoning_token_us Nullable(Int64) CODEC(T64, ZSTD(1)) AFTER first_byte_us,
    ADD COLUMN IF NOT EXISTS cached_tokens Nullable(UInt32) CODEC(T64, ZSTD(1)) AFTER first_reasoning_token_us,
    ADD COLUMN IF NOT EXISTS finish_reason LowCardinality(String) DEFAULT '' AFTER cached_tokens,
    ADD COLUMN IF NOT EXISTS engine_arrived_at Nullable(DateTime64(6, 'UTC')) CODEC(ZSTD(1)) AFTER finish_reason,
    ADD COLUMN IF NOT EXISTS repetition_ratio Nullable(Float64) CODEC(ZSTD(1)) AFTER engine_arrived_at,
    ADD COLUMN IF NOT EXISTS numbers_copied_ratio Nullable(Float64) CODEC(ZSTD(1)) AFTER repetition_ratio,
    ADD COLUMN IF NOT EXISTS invalid_output Nullable(UInt8) CODEC(ZSTD(1)) AFTER numbers_copied_ratio;
