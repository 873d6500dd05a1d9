-- What every source saw of a probe, an entry a source: rows added when a probe was reconciled, beside the one that its prober
-- wrote. Of one id the row stored first says what the probe was, the one stored last with a `reconciled_at` what was seen of it.
-- `seen_began_at` is by the source's own clock; durations are on it too.
ALTER TABLE probe_requests
    ADD COLUMN IF NOT EXISTS reconciled_at Nullable(DateTime64(6, 'UTC')) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS seen_by Array(LowCardinality(String)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS seen_instance Array(String) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS seen_began_at Array(Nullable(DateTime64(6, 'UTC'))) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS seen_end_to_end_us Array(Nullable(Int64)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS seen_queue_us Array(Nullable(Int64)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS seen_prefill_us Array(Nullable(Int64)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS seen_decode_us Array(Nullable(Int64)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS seen_first_token_us Array(Nullable(Int64)) CODEC(ZSTD(1));
