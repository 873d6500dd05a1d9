-- One canonical line of what happened to a GPU (see collectors/gpu) becomes one typed row, or a row with a reason.
WITH
    x -> ifNull(x, '') AS text_of
SELECT
    line,
    ifNull(tupleElement(t, 'at_us'), 0) AS happened_us,
    happened_us AS event_us,
    multiIf(
        trimBoth(line) = '', 'blank',
        NOT startsWith(trimLeft(line), '{') OR NOT isValidJSON(readable), 'not a JSON object',
        text_of(tupleElement(t, 'event')) = '', 'event: absent',
        isNull(tupleElement(t, 'at_us')), 'at_us: absent or not a whole number',
        happened_us < 946684800000000, 'at_us: before 2000',
        happened_us > {stored_us:Int64} + 86400000000, 'at_us: more than a day in the future',
        '') AS reason,
    reinterpretAsUInt128(sipHash128(line)) AS content_hash,
    text_of(tupleElement(t, 'event')) AS event,
    text_of(tupleElement(t, 'gpu')) AS gpu,
    text_of(tupleElement(t, 'parent')) AS parent,
    text_of(tupleElement(t, 'host')) AS host,
    text_of(tupleElement(t, 'collector')) AS collector,
    tupleElement(t, 'gpu_instance') AS gpu_instance,
    tupleElement(t, 'compute_instance') AS compute_instance,
    tupleElement(t, 'code') AS code,
    tupleElement(t, 'count') AS count,
    text_of(tupleElement(t, 'detail')) AS detail,
    ifNull(tupleElement(t, 'sequence'), 0) AS sequence,
    ifNull(tupleElement(t, 'simulated'), 0) AS simulated
-- The tuple is a column of its own, and its members are taken by function: as an alias, or by t.name, a batch of
-- a few lines would cost ten times the analysis.
FROM
(
    SELECT
        line,
        if(isValidUTF8(line), line, toValidUTF8(line)) AS readable,
        JSONExtract(
            readable,
            'Tuple(event Nullable(String), at_us Nullable(Int64), sequence Nullable(UInt64), host Nullable(String), collector Nullable(String), gpu Nullable(String), parent Nullable(String), gpu_instance Nullable(UInt16), compute_instance Nullable(UInt16), code Nullable(Int64), count Nullable(UInt64), detail Nullable(String), simulated Nullable(UInt8))') AS t
    FROM {lines:Identifier}
)
