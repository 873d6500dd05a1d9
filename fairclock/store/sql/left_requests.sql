-- What ran on the engines and left no row there: requests whose client left or whose time was up after they were forwarded.
--
-- Reads `joined`. Parameters: upstreams and upstream_engines (the engine behind each address, in the same order), owns_left
-- (whether they are their tenants', else nobody's). Columns as in engine_sequences.sql. vLLM drops such a request without a word;
-- it is taken to run from when the gateway forwarded it to the end of its answer, by the gateway's clock, waiting included.
SELECT
    transform(toString(upstream), {upstreams:Array(String)}, {upstream_engines:Array(String)}, '') AS instance,
    if({owns_left:UInt8}, reinterpretAsUInt128(sipHash128(content_hash, k)), 0) AS row_id,
    if({owns_left:UInt8}, toString(tenant), '') AS tenant,
    greatest(kv_tokens, 1) AS weight,
    prompt + completion AS kv_tokens,
    toUnixTimestamp64Micro(received_at) + ifNull(forwarded_us, 0) AS begun_us,
    toUnixTimestamp64Micro(received_at) + end_to_end_us AS ended_us,
    1 AS is_left, ended_us AS first_us, ended_us AS done_us,
    prompt AS prompt_tokens, cached AS cached_tokens, completion AS completion_tokens
FROM
(
    SELECT
        *, toInt64(ifNull(prompt_tokens, 0)) AS prompt, toInt64(ifNull(cached_tokens, 0)) AS cached, toInt64(ifNull(completion_tokens, 0)) AS completion
    FROM joined
)
WHERE engine = 'none' AND outcome IN ('client_aborted', 'timeout') AND isNotNull(forwarded_us) AND instance != '' AND begun_us <= ended_us
