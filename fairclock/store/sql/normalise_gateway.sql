-- One line of nginx JSON becomes one typed row, or a row with a reason why it could not. Other gateways' lines were made
-- such JSON before: they begin with the raw line's hash, may know more (`more`), or say why they could not be read (`bad`).
-- Absent: the key is missing, or its value is - or empty. request_completion alone tells empty from absent.
WITH
    'Tuple(time String, request_id String, traceparent String, tenant String, method String, uri String, status String, request_time String, request_completion Nullable(String), limit_req_status String, limit_conn_status String, connection_time String, connection_requests String, upstream_addr String, upstream_response_time String, x_request_start String, request_length String, bytes_sent String, server String, model String, region String, stream String, prompt_tokens String, cached_tokens String, completion_tokens String, finish_reason String, incomplete String, substituted String, inference_mode String, model_version String, priority String, error_code String, simulated String)' AS shape,
    'Tuple(queue Nullable(Decimal64(6)), time_to_first_token Nullable(Decimal64(6)), timeout String, client_cancelled String)' AS more_shape,
    CAST((NULL, NULL, '', ''), more_shape) AS no_more,
    '{"line_hash":"' AS adapted,       -- and 32 hex digits
    '{"of_tenant":"' AS of_tenant,     -- a tenant that was told of a line that stays as it is, and `"}` before the line
    (seconds, whole_us) -> if(reinterpretAsInt64(seconds) BETWEEN 0 AND whole_us + 2000, reinterpretAsInt64(seconds), NULL) AS possible,
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
        SELECT line, line AS readable, '' AS told_tenant
        FROM {lines:Identifier}
        WHERE position(line, '\\x') = 0 AND isValidUTF8(line) AND NOT startsWith(line, of_tenant)
        UNION ALL
        -- with escape=default nginx writes \xHH where JSON wants the byte itself, or \u00HH for quotes and controls;
        -- it writes any byte of a client's header as it came, so a line need not be valid UTF-8
        SELECT
            if(startsWith(staged, of_tenant), substring(staged, position(staged, '"}') + 2), staged) AS line,
            toValidUTF8(if(position(line, '\\x') > 0 AND NOT isValidJSON(line), unescaped(line), line)),
            if(startsWith(staged, of_tenant), JSONExtractString(substring(staged, 1, position(staged, '"}') + 1), 'of_tenant'), '')
        FROM (SELECT line AS staged FROM {lines:Identifier})
        WHERE NOT (position(staged, '\\x') = 0 AND isValidUTF8(staged) AND NOT startsWith(staged, of_tenant))
    ),
    parsed AS
    (
        SELECT
            line,
            readable,
            told_tenant,
            startsWith(line, adapted) AND substring(line, 47, 2) = '",' AS is_adapted,
            JSONExtract(readable, shape) AS t,
            if(is_adapted, JSONExtract(readable, more_shape), no_more) AS more
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
            seconds_of(if(t.connection_requests = '1', t.connection_time, '')) AS connection_seconds,
            -- `t=` may stand before it, and each proxy may have written its own: the first that is a number
            toFloat64OrZero(if(t.x_request_start IN ('', '-'), '', extract(t.x_request_start, '(?:^|[,; ])(?:t=)?([0-9]{9,20}(?:\\.[0-9]+)?)(?:$|[,; ])'))) AS start_number
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
            intDiv(status, 100) AS class,
            end_us - responded_us AS received_us,
            -- seconds, milliseconds, microseconds or nanoseconds, by its size
            toInt64(round(start_number * multiIf(start_number < 1e11, 1e6, start_number < 1e14, 1e3, start_number < 1e17, 1, 1e-3))) AS start_us
        FROM measured
    )
SELECT
    line,
    multiIf(
        end_us >= 946684800000000 AND end_us <= {stored_us:Int64} + 86400000000 AND responded_us BETWEEN 0 AND 2592000000000
            AND isNotNull(request_seconds) AND status_or_null <= 999 AND startsWith(line, '{'), '',
        trimBoth(line) = '', 'blank',
        is_adapted AND substring(line, 49, 7) = '"bad":"', JSONExtractString(readable, 'bad'),
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
    received_us,
    responded_us,
    if(is_adapted, reinterpretAsUInt128(unhex(substring(line, 15, 32))), reinterpretAsUInt128(sipHash128(line))) AS content_hash,
    request_id,
    -- a request id that is itself 128 bits in hex is what the shipped snippet sends as trace id
    if(logged_trace_id = toFixedString('', 16) AND length(request_id) = 32 AND lower(hex(unhex(request_id))) = request_id,
       toFixedString(unhex(request_id), 16), logged_trace_id) AS trace_id,
    if(told_tenant = '', present(t.tenant), told_tenant) AS tenant,
    present(t.method) AS method,
    substringIndex(substringIndex(present(t.uri), '?', 1), '#', 1) AS route,
    present(t.model) AS model,
    present(t.region) AS region,
    present(t.server) AS server,
    if(empty(upstreams), '', upstreams[-1]) AS upstream,
    toUInt8(least(length(upstreams), 255)) AS attempts,
    status,
    multiIf(
        status = 504 OR (more.timeout = '1' AND (class = 2 OR status = 0)), 'timeout',
        status = 499 OR status = 0 OR more.client_cancelled = '1', 'client_aborted',
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
    -- what took longer than the request itself is impossible
    if(is_adapted, possible(more.queue, responded_us), NULL) AS gateway_queue_us,
    if(is_adapted, possible(more.time_to_first_token, responded_us), NULL) AS gateway_first_token_us,
    -- another host's clock: kept as said, unless no clock can have said it
    if(start_us BETWEEN received_us - 86400000000 AND received_us + 86400000000, fromUnixTimestamp64Micro(start_us, 'UTC'), NULL) AS request_started_at,
    toUInt64OrZero(t.request_length) AS request_bytes,
    toUInt64OrZero(t.bytes_sent) AS bytes_sent,
    toUInt32OrNull(t.prompt_tokens) AS prompt_tokens,
    toUInt32OrNull(t.cached_tokens) AS cached_tokens,
    toUInt32OrNull(t.completion_tokens) AS completion_tokens,
    t.simulated IN ('true', '1') AS simulated
FROM timed
