-- One canonical histogram of a scrape (see collectors/vllm_metrics) becomes one typed row, or a row with a reason why it could not.
WITH
    x -> ifNull(x, '') AS text_of
SELECT
    line,
    ifNull(at_or_null, 0) AS scraped_us,
    scraped_us AS event_us,
    text_of(tupleElement(t, 'target')) AS target,
    text_of(tupleElement(t, 'name')) AS name,
    text_of(tupleElement(t, 'engine')) AS engine,
    text_of(tupleElement(t, 'model')) AS model,
    text_of(tupleElement(t, 'labels')) AS labels,
    arrayMap(x -> ifNull(x, 0), edges_or_null) AS edges,
    arrayMap(x -> ifNull(x, 0), counts_or_null) AS counts,
    toFloat64OrNull(text_of(tupleElement(t, 'sum'))) AS sum,
    toUInt64OrNull(text_of(tupleElement(t, 'count'))) AS count,
    toInt64OrNull(text_of(tupleElement(t, 'since'))) AS since_us,
    toInt64OrNull(text_of(tupleElement(t, 'reported'))) AS reported_us,
    multiIf(
        trimBoth(line) = '', 'blank',
        NOT startsWith(trimLeft(line), '{') OR NOT isValidJSON(readable), 'not a JSON object',
        isNotNull(tupleElement(t, 'bad')), text_of(tupleElement(t, 'bad')),
        isNull(at_or_null), 'at: absent or not a number of microseconds',
        scraped_us < 946684800000000, 'at: before 2000',
        scraped_us > {stored_us:Int64} + 86400000000, 'at: more than a day in the future',
        name = '', 'name: absent',
        length(edges) != length(counts), 'buckets: not as many counts as edges',
        arrayExists(x -> isNull(x) OR isNaN(ifNull(x, 0)), edges_or_null), 'buckets: an edge is not a number',
        arrayExists(x -> isNull(x), counts_or_null), 'buckets: a count is not a whole number',
        isNotNull(tupleElement(t, 'sum')) AND isNull(sum), 'sum: not a number',
        isNotNull(tupleElement(t, 'count')) AND isNull(count), 'count: not a whole number',
        '') AS reason,
    -- as the table computes it; what is no row is told apart by its line
    if(reason = '', reinterpretAsUInt128(sipHash128(target, name, engine, model, labels, tuple(edges, counts, isNull(sum), ifNull(sum, 0), isNull(count), ifNull(count, 0), isNull(since_us), ifNull(since_us, 0), isNull(reported_us), ifNull(reported_us, 0)))), reinterpretAsUInt128(sipHash128(line))) AS content_hash
-- The tuple is a column of its own, and its members are taken by function: as an alias, or by t.name, a batch of a few
-- lines would cost ten times the analysis.
FROM
(
    SELECT
        line,
        if(isValidUTF8(line), line, toValidUTF8(line)) AS readable,
        JSONExtract(
            readable,
            'Tuple(bad Nullable(String), at Nullable(String), target Nullable(String), name Nullable(String), engine Nullable(String), model Nullable(String), labels Nullable(String), edges Array(String), counts Array(String), sum Nullable(String), count Nullable(String), since Nullable(String), reported Nullable(String))') AS t,
        toInt64OrNull(ifNull(tupleElement(t, 'at'), '')) AS at_or_null,
        arrayMap(x -> toFloat64OrNull(x), tupleElement(t, 'edges')) AS edges_or_null,
        arrayMap(x -> toUInt64OrNull(x), tupleElement(t, 'counts')) AS counts_or_null
    FROM {lines:Identifier}
)
