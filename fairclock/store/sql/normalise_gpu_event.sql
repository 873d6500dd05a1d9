-- One canonical line of what happened to a GPU (see collectors/gpu) becomes one typed row, or a row with a reason.
WITH
    'Tuple(event Nullable(String), at_us Nullable(Int64), sequence Nullable(UInt64), host Nullable(String), collector Nullable(String), gpu Nullable(String), parent Nullable(String), gpu_instance Nullable(UInt16), compute_instance Nullable(UInt16), code Nullable(Int64), count Nullable(UInt64), detail Nullable(String), simulated Nullable(UInt8))' AS shape,
    x -> ifNull(x, '') AS text_of
SELECT
    line,
    if(isValidUTF8(line), line, toValidUTF8(line)) AS readable,
    JSONExtract(readable, shape) AS t,
    ifNull(t.at_us, 0) AS happened_us,
    happened_us AS event_us,
    multiIf(
        trimBoth(line) = '', 'blank',
        NOT startsWith(trimLeft(line), '{') OR NOT isValidJSON(readable), 'not a JSON object',
        text_of(t.event) = '', 'event: absent',
        isNull(t.at_us), 'at_us: absent or not a whole number',
        happened_us < 946684800000000, 'at_us: before 2000',
        happened_us > {stored_us:Int64} + 86400000000, 'at_us: more than a day in the future',
        '') AS reason,
    reinterpretAsUInt128(sipHash128(line)) AS content_hash,
    text_of(t.event) AS event,
    text_of(t.gpu) AS gpu,
    text_of(t.parent) AS parent,
    text_of(t.host) AS host,
    text_of(t.collector) AS collector,
    t.gpu_instance AS gpu_instance,
    t.compute_instance AS compute_instance,
    t.code AS code,
    t.count AS count,
    text_of(t.detail) AS detail,
    ifNull(t.sequence, 0) AS sequence,
    ifNull(t.simulated, 0) AS simulated
FROM {lines:Identifier}
