-- What engines say of themselves: a row is one value, or one histogram, of one series at one scrape.
-- Rows are ordered by series, then time: what follows each other differs little, and a series is read in one piece.
-- Identity is the whole content and k. It is kept nowhere: content_hash is computed from the columns when it is asked for.
-- No hash takes a Nullable as it is: of one that is NULL it would be NULL.

CREATE TABLE IF NOT EXISTS engine_samples
(
    scraped_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(3)),
    k UInt16 CODEC(ZSTD(1)),
    target LowCardinality(String),
    kind Enum8('counter' = 1, 'gauge' = 2, 'info' = 3),
    name LowCardinality(String),
    engine LowCardinality(String),
    model LowCardinality(String),
    labels LowCardinality(String),
    whole Nullable(Int64) CODEC(T64, ZSTD(1)),
    fraction Nullable(Float64) CODEC(ZSTD(1)),
    since_us Nullable(Int64) CODEC(ZSTD(1)),
    reported_us Nullable(Int64) CODEC(ZSTD(1)),
    source LowCardinality(String),
    first_wins UInt64 CODEC(DoubleDelta, ZSTD(1)),
    value Nullable(Float64) ALIAS ifNull(fraction, toFloat64(whole)),
    labelled Map(String, String) ALIAS extractKeyValuePairsWithEscaping(labels, '=', ',', '"'),
    stored_at DateTime64(6, 'UTC') ALIAS fromUnixTimestamp64Micro(toInt64(9000000000000000 - first_wins), 'UTC'),
    content_hash UInt128 ALIAS reinterpretAsUInt128(sipHash128(toString(target), toString(kind), toString(name), toString(engine), toString(model), toString(labels), tuple(isNull(whole), ifNull(whole, 0), isNull(fraction), ifNull(fraction, 0), isNull(since_us), ifNull(since_us, 0), isNull(reported_us), ifNull(reported_us, 0))))
)
ENGINE = ReplacingMergeTree(first_wins)
PARTITION BY toYYYYMMDD(scraped_at)
ORDER BY (name, target, engine, model, labels, scraped_at, sipHash64(tuple(toString(kind), isNull(whole), ifNull(whole, 0), isNull(fraction), ifNull(fraction, 0), isNull(since_us), ifNull(since_us, 0), isNull(reported_us), ifNull(reported_us, 0))), k)
TTL toDateTime(scraped_at) + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 1000, ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS engine_histograms
(
    scraped_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(3)),
    k UInt16 CODEC(ZSTD(1)),
    target LowCardinality(String),
    name LowCardinality(String),
    engine LowCardinality(String),
    model LowCardinality(String),
    labels LowCardinality(String),
    edges Array(Float64) CODEC(ZSTD(1)),
    counts Array(UInt64) CODEC(Delta(8), ZSTD(1)),
    sum Nullable(Float64) CODEC(ZSTD(1)),
    count Nullable(UInt64) CODEC(T64, ZSTD(1)),
    since_us Nullable(Int64) CODEC(ZSTD(1)),
    reported_us Nullable(Int64) CODEC(ZSTD(1)),
    source LowCardinality(String),
    first_wins UInt64 CODEC(DoubleDelta, ZSTD(1)),
    labelled Map(String, String) ALIAS extractKeyValuePairsWithEscaping(labels, '=', ',', '"'),
    stored_at DateTime64(6, 'UTC') ALIAS fromUnixTimestamp64Micro(toInt64(9000000000000000 - first_wins), 'UTC'),
    content_hash UInt128 ALIAS reinterpretAsUInt128(sipHash128(toString(target), toString(name), toString(engine), toString(model), toString(labels), tuple(edges, counts, isNull(sum), ifNull(sum, 0), isNull(count), ifNull(count, 0), isNull(since_us), ifNull(since_us, 0), isNull(reported_us), ifNull(reported_us, 0))))
)
ENGINE = ReplacingMergeTree(first_wins)
PARTITION BY toYYYYMMDD(scraped_at)
ORDER BY (name, target, engine, model, labels, scraped_at, sipHash64(tuple(edges, counts, isNull(sum), ifNull(sum, 0), isNull(count), ifNull(count, 0), isNull(since_us), ifNull(since_us, 0), isNull(reported_us), ifNull(reported_us, 0))), k)
TTL toDateTime(scraped_at) + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 1000, ttl_only_drop_parts = 1;
