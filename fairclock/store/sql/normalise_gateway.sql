-- One line of nginx JSON becomes one typed row, or a row with a reason why it could not.
-- Absent: the key is missing, or its value is - or empty. request_completion alone tells empty from absent.
WITH
    'Tuple(time String, request_id String, traceparent String, tenant String, method String, uri String, status String, request_time String, request_completion Nullable(String), limit_req_status String, limit_conn_status String, connection_time String, connection_requests String, upstream_addr String, upstream_response_time String, request_length String, bytes_sent String, server String, model String, region String, stream String, prompt_tokens String, cached_tokens String, completion_tokens String, finish_reason String, incomplete String, substituted String, inference_mode String, model_version String, priority String, error_code String, simulated String)' AS shape,
    x -> if(x = '-', '', x) AS present,
    -- the engine's decimals read '-', '.' and 'e5' as 0; the regular expression runs for the unusual only
    x -> toDecimal64OrNull(if(ascii(x) BETWEEN 48 AND 57 OR match(x, '^[-+]?[0-9]'), x, ''), 6) AS seconds_of,
    -- nginx writes `a, b` for tries after one another and ` : ` where it was sent on internally
    x -> if(position(x, ',') = 0 AND position(x, ' : ') = 0, [x], splitByRegexp(' : |, ?', x)) AS parts_of,
    x -> arrayStringConcat(arrayMap((part, number) -> multiIf(
        number = 1, part,
        NOT match(part, '^[0-9A-Fa-f]{2}'), concat('\\x', part),
        substring(part, 1, 1) IN ('0', '1') OR upper(substring(part, 1, 2)) IN ('22', '5C', '7F'), concat('\\u00', part),
        concat(unhex(substring(part, 1, 2)), substring(part, 3))), splitByString('\\x', x), arrayEnumerate(splitByString('\\x', x)))) AS unescaped,
    -- A line is nearly always JSON and UTF-8 as it stands, and is parsed where it lies: to decide line by line would
    -- copy every one of them. The others come by the second way.
    lines AS
    (
        SELECT line, line AS readable
        FROM {lines:Identifier}
        WHERE position(line, '\\x') = 0 AND isValidUTF8(line)
        UNION ALL
        -- with escape=default nginx writes \xHH where JSON wants the byte itself, or \u00HH for quotes and controls;
        -- it writes any byte of a client's header as it came, so a line need not be valid UTF-8
        SELECT line, toValidUTF8(if(position(line, '\\x') > 0 AND NOT isValidJSON(line), unescaped(line), line))
        FROM {lines:Identifier}
        WHERE NOT (position(line, '\\x') = 0 AND isValidUTF8(line))
    ),
    parsed AS
    (
        SELECT
            line,
            readable,
            JSONExtract(readable, shape) AS t
        FROM lines
    ),
    measured AS
    (
        SELECT
            *,
            seconds_of(t.time) AS time_seconds,
            seconds_of(t.request_time) AS request_seconds,
            toUInt16OrNull(t.status) AS status_or_null,
            present(t.request_id) AS request_id,
            -- version, trace id, parent id, flags: 2-32-16-2 hex digits; what is not hex does not come back the same
            substring(t.traceparent, 4, 32) AS trace_hex,
            if(length(t.traceparent) >= 55 AND substring(t.traceparent, 3, 1) = '-' AND substring(t.traceparent, 36, 1) = '-'
                AND substring(t.traceparent, 53, 1) = '-' AND hex(unhex(trace_hex)) = upper(trace_hex),
               toFixedString(unhex(trace_hex), 16), toFixedString('', 16)) AS logged_trace_id,
            if(present(t.upstream_addr) = '', [], parts_of(t.upstream_addr)) AS upstreams,
            seconds_of(if(present(t.upstream_response_time) = '', '', parts_of(t.upstream_response_time)[-1])) AS upstream_seconds,
            seconds_of(if(t.connection_requests = '1', t.connection_time, '')) AS connection_seconds
        FROM parsed
    ),
    timed AS
    (
        SELECT
            *,
            assumeNotNull(status_or_null) AS status,
            reinterpretAsInt64(ifNull(time_seconds, 0)) AS end_us,
            reinterpretAsInt64(ifNull(request_seconds, 0)) AS responded_us,
            reinterpretAsInt64(assumeNotNull(connection_seconds)) - responded_us AS handshake_us,
            responded_us - reinterpretAsInt64(assumeNotNull(upstream_seconds)) AS before_upstream_us,
            intDiv(status, 100) AS class
        FROM measured
    )
SELECT
    line,
    multiIf(
        end_us >= 946684800000000 AND end_us <= {stored_us:Int64} + 86400000000 AND responded_us BETWEEN 0 AND 2592000000000
            AND isNotNull(request_seconds) AND status_or_null <= 999 AND startsWith(line, '{'), '',
        trimBoth(line) = '', 'blank',
        NOT startsWith(trimLeft(line), '{'), 'not a JSON object',
        t.time = '' AND t.status = '', if(isValidJSON(readable) AND JSONType(readable) = 'Object', 'time: absent', 'not a JSON object'),
        present(t.time) = '', 'time: absent',
        isNull(time_seconds), 'time: not a number of seconds',
        end_us < 946684800000000, 'time: before 2000',
        end_us > {stored_us:Int64} + 86400000000, 'time: more than a day in the future',
        present(t.request_time) = '', 'request_time: absent',
        isNull(request_seconds), 'request_time: not a number of seconds',
        responded_us < 0, 'request_time: negative',
        responded_us > 2592000000000, 'request_time: more than 30 days',
        present(t.status) = '', 'status: absent',
        isNull(status_or_null) OR status_or_null > 999, 'status: not a number from 0 to 999',
        '') AS reason,
    end_us AS event_us,
    end_us - responded_us AS received_us,
    responded_us,
    reinterpretAsUInt128(sipHash128(line)) AS content_hash,
    request_id,
    -- a request id that is itself 128 bits in hex is what the shipped snippet sends as trace id
    if(logged_trace_id = toFixedString('', 16) AND length(request_id) = 32 AND lower(hex(unhex(request_id))) = request_id,
       toFixedString(unhex(request_id), 16), logged_trace_id) AS trace_id,
    present(t.tenant) AS tenant,
    present(t.method) AS method,
    substringIndex(substringIndex(present(t.uri), '?', 1), '#', 1) AS route,
    present(t.model) AS model,
    present(t.region) AS region,
    present(t.server) AS server,
    if(empty(upstreams), '', upstreams[-1]) AS upstream,
    toUInt8(least(length(upstreams), 255)) AS attempts,
    status,
    multiIf(
        status = 504, 'timeout',
        status = 499 OR status = 0, 'client_aborted',
        class = 2, multiIf(
            t.request_completion = '', 'client_aborted',
            t.substituted IN ('true', '1'), 'substituted',
            t.incomplete IN ('true', '1'), 'incomplete',
            'ok'),
        status = 429, 'quota_rejected',
        status = 503 AND (t.limit_req_status = 'REJECTED' OR t.limit_conn_status = 'REJECTED'), 'quota_rejected',
        status = 503, 'capacity_rejected',
        status != 444 AND class IN (3, 4), 'client_error',
        'server_error') AS outcome,
    present(t.error_code) AS error_code,
    multiIf(t.stream IN ('true', '1'), 1, present(t.stream) != '', 0, NULL) AS stream,
    present(t.inference_mode) AS inference_mode,
    present(t.model_version) AS model_version,
    present(t.priority) AS priority,
    present(t.finish_reason) AS finish_reason,
    -- a connection's first request only: later ones would count the client's idling
    if(isNotNull(connection_seconds) AND handshake_us >= -2000, handshake_us, NULL) AS connected_us,
    if(isNotNull(upstream_seconds) AND before_upstream_us >= -2000, before_upstream_us, NULL) AS forwarded_us,
    toUInt64OrZero(t.request_length) AS request_bytes,
    toUInt64OrZero(t.bytes_sent) AS bytes_sent,
    toUInt32OrNull(t.prompt_tokens) AS prompt_tokens,
    toUInt32OrNull(t.cached_tokens) AS cached_tokens,
    toUInt32OrNull(t.completion_tokens) AS completion_tokens,
    t.simulated IN ('true', '1') AS simulated
FROM timed
