-- One canonical line of a scrape (see collectors/vllm_metrics) becomes one typed row, or a row with a reason why it could not.
WITH
    x -> ifNull(x, '') AS text_of
SELECT
    line,
    ifNull(at_or_null, 0) AS scraped_us,
    scraped_us AS event_us,
    text_of(tupleElement(t, 'target')) AS target,
    if(kind_told IN ('counter', 'gauge', 'info'), kind_told, 'gauge') AS kind,
    text_of(tupleElement(t, 'name')) AS name,
    text_of(tupleElement(t, 'engine')) AS engine,
    text_of(tupleElement(t, 'model')) AS model,
    text_of(tupleElement(t, 'labels')) AS labels,
    toInt64OrNull(text_of(tupleElement(t, 'whole'))) AS whole,
    toFloat64OrNull(text_of(tupleElement(t, 'fraction'))) AS fraction,
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
        kind_told != kind, 'kind: not counter, gauge or info',
        isNotNull(tupleElement(t, 'whole')) AND isNull(whole), 'value: not a whole number of 64 bits',
        isNotNull(tupleElement(t, 'fraction')) AND isNull(fraction), 'value: not a number',
        '') AS reason,
    -- as the table computes it; what is no row is told apart by its line
    if(reason = '', reinterpretAsUInt128(sipHash128(target, kind, name, engine, model, labels, tuple(isNull(whole), ifNull(whole, 0), isNull(fraction), ifNull(fraction, 0), isNull(since_us), ifNull(since_us, 0), isNull(reported_us), ifNull(reported_us, 0)))), reinterpretAsUInt128(sipHash128(line))) AS content_hash
-- The tuple is a column of its own, and its members are taken by function: as an alias, or by t.name, a batch of a few
-- lines would cost ten times the analysis.
FROM
(
    SELECT
        line,
        if(isValidUTF8(line), line, toValidUTF8(line)) AS readable,
        JSONExtract(
            readable,
            'Tuple(bad Nullable(String), at Nullable(String), target Nullable(String), kind Nullable(String), name Nullable(String), engine Nullable(String), model Nullable(String), labels Nullable(String), whole Nullable(String), fraction Nullable(String), since Nullable(String), reported Nullable(String))') AS t,
        toInt64OrNull(ifNull(tupleElement(t, 'at'), '')) AS at_or_null,
        ifNull(tupleElement(t, 'kind'), '') AS kind_told
    FROM {lines:Identifier}
)
