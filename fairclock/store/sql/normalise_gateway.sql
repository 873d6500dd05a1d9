-- One line of nginx JSON becomes one typed row, or a row with a reason why it could not.
-- Absent: the key is missing, or its value is - or empty. request_completion alone tells empty from -.
WITH
    'Tuple(time Nullable(String), request_id Nullable(String), traceparent Nullable(String), tenant Nullable(String), method Nullable(String), uri Nullable(String), status Nullable(String), request_time Nullable(String), request_completion Nullable(String), limit_req_status Nullable(String), limit_conn_status Nullable(String), connection_time Nullable(String), connection_requests Nullable(String), upstream_addr Nullable(String), upstream_response_time Nullable(String), request_length Nullable(String), bytes_sent Nullable(String), server Nullable(String), model Nullable(String), region Nullable(String), stream Nullable(String), prompt_tokens Nullable(String), cached_tokens Nullable(String), completion_tokens Nullable(String), finish_reason Nullable(String), incomplete Nullable(String), substituted Nullable(String), inference_mode Nullable(String), model_version Nullable(String), priority Nullable(String), error_code Nullable(String), simulated Nullable(String))' AS shape,
    x -> nullIf(nullIf(x, '-'), '') AS present,
    x -> ifNull(present(x), '') AS text_of,
    x -> ifNull(x IN ('true', '1'), 0) AS is_set,
    x -> reinterpretAsInt64(toDecimal64OrNull(assumeNotNull(ifNull(present(x), 'absent')), 6)) AS to_us
SELECT
    *,
    multiIf(
        trimBoth(line) = '', 'blank',
        NOT startsWith(trimLeft(line), '{'), 'not a JSON object',
        isNull(t.time) AND isNull(t.status), if(isValidJSON(readable) AND JSONType(readable) = 'Object', 'time: absent', 'not a JSON object'),
        isNull(present(t.time)), 'time: absent',
        isNull(time_seconds), 'time: not a number of seconds',
        end_us < 946684800000000, 'time: before 2000',
        end_us > {stored_us:Int64} + 86400000000, 'time: more than a day in the future',
        isNull(present(t.request_time)), 'request_time: absent',
        isNull(request_seconds), 'request_time: not a number of seconds',
        responded_us < 0, 'request_time: negative',
        responded_us > 2592000000000, 'request_time: more than 30 days',
        isNull(present(t.status)), 'status: absent',
        isNull(status_or_null) OR status_or_null > 999, 'status: not a number from 0 to 999',
        '') AS reason,
    end_us - responded_us AS received_us,
    reinterpretAsUInt128(sipHash128(line)) AS content_hash,
    -- a request id that is itself 128 bits in hex is what the shipped snippet sends as trace id
    if(logged_trace_id = toFixedString('', 16) AND match(request_id, '^[0-9a-f]{32}$'),
       toFixedString(unhex(request_id), 16), logged_trace_id) AS trace_id,
    text_of(t.tenant) AS tenant,
    text_of(t.method) AS method,
    extract(text_of(t.uri), '^[^?#]*') AS route,
    text_of(t.model) AS model,
    text_of(t.region) AS region,
    text_of(t.server) AS server,
    if(empty(upstreams), '', upstreams[-1]) AS upstream,
    toUInt8(least(length(upstreams), 255)) AS attempts,
    multiIf(
        status = 504, 'timeout',
        status IN (0, 499), 'client_aborted',
        intDiv(status, 100) = 2 AND t.request_completion = '', 'client_aborted',
        intDiv(status, 100) = 2 AND is_set(t.substituted), 'substituted',
        intDiv(status, 100) = 2 AND is_set(t.incomplete), 'incomplete',
        intDiv(status, 100) = 2, 'ok',
        status = 429, 'quota_rejected',
        status = 503 AND ifNull(t.limit_req_status = 'REJECTED', 0), 'quota_rejected',
        status = 503 AND ifNull(t.limit_conn_status = 'REJECTED', 0), 'quota_rejected',
        status = 503, 'capacity_rejected',
        status = 444, 'server_error',
        status BETWEEN 300 AND 499, 'client_error',
        'server_error') AS outcome,
    text_of(t.error_code) AS error_code,
    multiIf(t.stream IN ('true', '1'), 1, isNotNull(present(t.stream)), 0, NULL) AS stream,
    text_of(t.inference_mode) AS inference_mode,
    text_of(t.model_version) AS model_version,
    text_of(t.priority) AS priority,
    text_of(t.finish_reason) AS finish_reason,
    -- a connection's first request only: later ones would count the client's idling
    if(t.connection_requests = '1', toInt64(to_us(t.connection_time)) - responded_us, NULL) AS handshake_us,
    if(handshake_us >= -2000, handshake_us, NULL) AS connected_us,
    if(isNull(present(t.upstream_response_time)), NULL,
       responded_us - to_us(splitByRegexp(' : |, ?', assumeNotNull(t.upstream_response_time))[-1])) AS before_upstream_us,
    if(before_upstream_us >= -2000, before_upstream_us, NULL) AS forwarded_us,
    ifNull(toUInt64OrNull(text_of(t.request_length)), 0) AS request_bytes,
    ifNull(toUInt64OrNull(text_of(t.bytes_sent)), 0) AS bytes_sent,
    toUInt32OrNull(text_of(t.prompt_tokens)) AS prompt_tokens,
    toUInt32OrNull(text_of(t.cached_tokens)) AS cached_tokens,
    toUInt32OrNull(text_of(t.completion_tokens)) AS completion_tokens,
    is_set(t.simulated) AS simulated,
    end_us AS event_us
FROM
(
    SELECT
        *,
        assumeNotNull(status_or_null) AS status,
        reinterpretAsInt64(ifNull(time_seconds, 0)) AS end_us,
        reinterpretAsInt64(ifNull(request_seconds, 0)) AS responded_us
    FROM
    (
        SELECT
            *,
            toDecimal64OrNull(ifNull(present(t.time), 'absent'), 6) AS time_seconds,
            toDecimal64OrNull(ifNull(present(t.request_time), 'absent'), 6) AS request_seconds,
            toUInt16OrNull(ifNull(present(t.status), 'absent')) AS status_or_null,
            text_of(t.request_id) AS request_id,
            toFixedString(unhex(extract(lower(text_of(t.traceparent)), '^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}')), 16) AS logged_trace_id,
            if(isNull(present(t.upstream_addr)), [], splitByRegexp(' : |, ?', assumeNotNull(t.upstream_addr))) AS upstreams
        FROM
        (
            SELECT
                line,
                readable,
                -- escape=default writes \x22 where JSON wants \u0022
                if(isNull(strict.time) AND position(line, '\\x') > 0,
                   JSONExtract(replaceRegexpAll(readable, '\\\\x([0-9A-Fa-f]{2})', '\\\\u00\\1'), shape), strict) AS t
            FROM
            (
                SELECT
                    line,
                    -- nginx writes any byte of a client's header as it came, so a line need not be valid UTF-8
                    if(isValidUTF8(line), line, toValidUTF8(line)) AS readable,
                    JSONExtract(readable, shape) AS strict
                FROM {lines:Identifier}
            )
        )
    )
)
