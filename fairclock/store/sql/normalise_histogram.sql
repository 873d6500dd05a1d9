-- One canonical histogram of a scrape (see collectors/vllm_metrics) becomes one typed row, or a row with a reason why it could not.
WITH
    'Tuple(bad Nullable(String), at Nullable(String), target Nullable(String), name Nullable(String), engine Nullable(String), model Nullable(String), labels Nullable(String), edges Array(String), counts Array(String), sum Nullable(String), count Nullable(String), since Nullable(String), reported Nullable(String))' AS shape,
    x -> ifNull(x, '') AS text_of
SELECT
    line,
    if(isValidUTF8(line), line, toValidUTF8(line)) AS readable,
    JSONExtract(readable, shape) AS t,
    toInt64OrNull(text_of(t.at)) AS at_or_null,
    ifNull(at_or_null, 0) AS scraped_us,
    scraped_us AS event_us,
    text_of(t.target) AS target,
    text_of(t.name) AS name,
    text_of(t.engine) AS engine,
    text_of(t.model) AS model,
    text_of(t.labels) AS labels,
    arrayMap(x -> toFloat64OrNull(x), t.edges) AS edges_or_null,
    arrayMap(x -> toUInt64OrNull(x), t.counts) AS counts_or_null,
    arrayMap(x -> ifNull(x, 0), edges_or_null) AS edges,
    arrayMap(x -> ifNull(x, 0), counts_or_null) AS counts,
    toFloat64OrNull(text_of(t.sum)) AS sum,
    toUInt64OrNull(text_of(t.count)) AS count,
    toInt64OrNull(text_of(t.since)) AS since_us,
    toInt64OrNull(text_of(t.reported)) AS reported_us,
    multiIf(
        trimBoth(line) = '', 'blank',
        NOT startsWith(trimLeft(line), '{') OR NOT isValidJSON(readable), 'not a JSON object',
        isNotNull(t.bad), text_of(t.bad),
        isNull(at_or_null), 'at: absent or not a number of microseconds',
        scraped_us < 946684800000000, 'at: before 2000',
        scraped_us > {stored_us:Int64} + 86400000000, 'at: more than a day in the future',
        name = '', 'name: absent',
        length(t.edges) != length(t.counts), 'buckets: not as many counts as edges',
        arrayExists(x -> isNull(x) OR isNaN(ifNull(x, 0)), edges_or_null), 'buckets: an edge is not a number',
        arrayExists(x -> isNull(x), counts_or_null), 'buckets: a count is not a whole number',
        isNotNull(t.sum) AND isNull(sum), 'sum: not a number',
        isNotNull(t.count) AND isNull(count), 'count: not a whole number',
        '') AS reason,
    -- as the table computes it; what is no row is told apart by its line
    if(reason = '', reinterpretAsUInt128(sipHash128(target, name, engine, model, labels, tuple(edges, counts, isNull(sum), ifNull(sum, 0), isNull(count), ifNull(count, 0), isNull(since_us), ifNull(since_us, 0), isNull(reported_us), ifNull(reported_us, 0)))), reinterpretAsUInt128(sipHash128(line))) AS content_hash
FROM {lines:Identifier}
