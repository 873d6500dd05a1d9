-- What gateways other than nginx know: their own queue, and when their first content chunk left; and what a proxy in
-- front said about the request's start, which is another host's clock and part of no duration.

ALTER TABLE gateway_requests ADD COLUMN IF NOT EXISTS gateway_queue_us Nullable(Int64) CODEC(T64, ZSTD(1)) AFTER forwarded_us;
ALTER TABLE gateway_requests ADD COLUMN IF NOT EXISTS gateway_first_token_us Nullable(Int64) CODEC(T64, ZSTD(1)) AFTER gateway_queue_us;
ALTER TABLE gateway_requests ADD COLUMN IF NOT EXISTS request_started_at Nullable(DateTime64(6, 'UTC')) CODEC(ZSTD(1)) AFTER gateway_first_token_us;
