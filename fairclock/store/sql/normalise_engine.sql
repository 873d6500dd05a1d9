-- One canonical engine line (see collectors/otlp) becomes one typed row, or a row with a reason why it could not.
-- Durations are seconds; impossible ones (negative, a host's uptime) are kept and set aside when they are joined.
WITH
    'Tuple(bad Nullable(String), trace_id Nullable(String), span_id Nullable(String), start_ns Nullable(String), end_ns Nullable(String), instance Nullable(String), model Nullable(String), request_id Nullable(String), e2e Nullable(String), queue Nullable(String), prefill Nullable(String), decode Nullable(String), inference Nullable(String), ttft Nullable(String), prompt_tokens Nullable(String), completion_tokens Nullable(String), cached_tokens Nullable(String), finish_reason Nullable(String), reporter Nullable(String), engine_rank Nullable(String), preemptions Nullable(String), simulated Nullable(String))' AS shape,
    x -> ifNull(x, '') AS text_of,
    x -> toFloat64OrNull(ifNull(x, '')) AS seconds_of,
    -- 1e9 s are 31 years: no request, and no uptime, lasts that long
    x -> if(isFinite(ifNull(seconds_of(x), nan)) AND abs(ifNull(seconds_of(x), nan)) < 1e9, toInt64(round(ifNull(seconds_of(x), 0) * 1e6)), NULL) AS us_of
SELECT
    line,
    if(isValidUTF8(line), line, toValidUTF8(line)) AS readable,
    JSONExtract(readable, shape) AS t,
    toInt64OrNull(text_of(t.start_ns)) AS start_ns_or_null,
    toInt64OrNull(text_of(t.end_ns)) AS end_ns_or_null,
    intDiv(ifNull(start_ns_or_null, 0), 1000) AS arrived_us,
    us_of(t.e2e) AS reported_end_to_end_us,
    us_of(t.queue) AS queue_or_null_us,
    us_of(t.prefill) AS prefill_or_null_us,
    us_of(t.decode) AS decode_or_null_us,
    us_of(t.inference) AS inference_or_null_us,
    ifNull(queue_or_null_us, 0) AS queue_us,
    ifNull(prefill_or_null_us, inference_or_null_us - decode_or_null_us) AS prefill_known_us,
    ifNull(decode_or_null_us, inference_or_null_us - prefill_or_null_us) AS decode_known_us,
    ifNull(prefill_known_us, 0) AS prefill_us,
    ifNull(decode_known_us, 0) AS decode_us,
    -- start and end of a span are read off the same host's clock
    ifNull(reported_end_to_end_us, if(end_ns_or_null >= start_ns_or_null, intDiv(end_ns_or_null - start_ns_or_null, 1000), NULL)) AS end_to_end_known_us,
    ifNull(end_to_end_known_us, 0) AS end_to_end_us,
    multiIf(
        -- what is no JSON has no start; a line in order is not parsed a second time to be told valid
        startsWith(line, '{') AND isNull(t.bad) AND arrived_us BETWEEN 946684800000000 AND {stored_us:Int64} + 86400000000
            AND isNotNull(queue_or_null_us) AND isNotNull(prefill_known_us) AND isNotNull(decode_known_us)
            AND isNotNull(end_to_end_known_us) AND isNotNull(start_ns_or_null), '',
        trimBoth(line) = '', 'blank',
        NOT startsWith(trimLeft(line), '{') OR NOT isValidJSON(readable), 'not a JSON object',
        isNotNull(t.bad), concat('span: ', text_of(t.bad)),
        isNull(start_ns_or_null), 'start: absent or not a number of nanoseconds',
        arrived_us < 946684800000000, 'start: before 2000',
        arrived_us > {stored_us:Int64} + 86400000000, 'start: more than a day in the future',
        isNull(queue_or_null_us), 'gen_ai.latency.time_in_queue: absent or not a possible duration',
        isNull(prefill_known_us), 'gen_ai.latency.time_in_model_prefill: absent or not a possible duration',
        isNull(decode_known_us), 'gen_ai.latency.time_in_model_decode: absent or not a possible duration',
        isNull(end_to_end_known_us), 'gen_ai.latency.e2e: absent or not a possible duration',
        '') AS reason,
    reinterpretAsUInt128(sipHash128(line)) AS content_hash,
    if(match(text_of(t.trace_id), '^[0-9a-f]{32}$'), toFixedString(unhex(text_of(t.trace_id)), 16), toFixedString('', 16)) AS trace_id,
    text_of(t.span_id) AS span_id,
    text_of(t.request_id) AS request_id,
    -- the engine's decorations, and only there: a client's own order-7 stays order-7
    multiIf(
        startsWith(request_id, 'chatcmpl-'), substring(request_id, 10),
        match(request_id, '^cmpl-.+-[0-9]+$'), replaceRegexpOne(substring(request_id, 6), '-[0-9]+$', ''),
        startsWith(request_id, 'cmpl-'), substring(request_id, 6),
        request_id) AS join_id,
    if(match(request_id, '^cmpl-.+-[0-9]+$'), toUInt16OrZero(extract(request_id, '-([0-9]+)$')), 0) AS sequence,
    text_of(t.instance) AS instance,
    text_of(t.model) AS model,
    us_of(t.ttft) AS time_to_first_token_us,
    toUInt32OrNull(text_of(t.prompt_tokens)) AS prompt_tokens,
    toUInt32OrNull(text_of(t.cached_tokens)) AS cached_tokens,
    toUInt32OrNull(text_of(t.completion_tokens)) AS completion_tokens,
    text_of(t.finish_reason) AS finish_reason,
    if(text_of(t.reporter) = '', 'span', text_of(t.reporter)) AS reporter,
    toUInt16OrNull(text_of(t.engine_rank)) AS engine_rank,
    toUInt32OrNull(text_of(t.preemptions)) AS preemptions,
    text_of(t.simulated) IN ('true', '1') AS simulated,
    -- an end before the start, or a day after it, is no event time
    if(end_ns_or_null BETWEEN start_ns_or_null AND start_ns_or_null + 86400000000000, intDiv(ifNull(end_ns_or_null, 0), 1000),
       arrived_us + least(greatest(end_to_end_us, 0), 86400000000)) AS event_us
FROM {lines:Identifier}
