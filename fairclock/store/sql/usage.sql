-- What requests used, grouped by all that a price can ask for.
--
-- Reads `joined` (requests of whole hours) and `attributed` (request, picoseconds, lane). Parameters: group_edges_us and
-- group_next_edges_us (hours and price changes, in order), probe_tenants, class_names and class_from_tokens (length classes by
-- prompt tokens, from the shortest), lane_machines (one a lane), machine_upstreams and upstream_machines.
--
-- Tokens are the response's own count (the gateway's copy of `usage`, else the engine's). Of cached ones nobody may tell: then
-- none was. Where prompt or completion is known to nobody, it is estimated: the lower median of what the same tenant's
-- completed requests to the same model had in that hour, where it is known; none where it is known of none. Of an answer that
-- did not come whole, nothing that is not known to have come is estimated; of a refused request, nothing at all.
WITH
    told AS
    (
        SELECT
            toString(tenant) AS tenant, toString(model) AS model, toString(inference_mode) AS inference_mode,
            roundDown(toUnixTimestamp64Micro(received_at), {group_edges_us:Array(Int64)}) AS start_us,
            outcome IN ('quota_rejected', 'capacity_rejected', 'client_error', 'server_error') AS is_refused,
            multiIf(
                has({probe_tenants:Array(String)}, tenant), 'probe',
                is_refused, 'refused',
                outcome = 'client_aborted', 'aborted',
                outcome IN ('timeout', 'incomplete', 'substituted'), 'incomplete',
                attempts > 1, 'retried',
                'completed') AS treatment,
            outcome = 'ok' AS is_whole,
            prompt_tokens AS prompt, completion_tokens AS completion,
            least(ifNull(cached_tokens, 0), ifNull(prompt, 0)) AS cached,
            NOT is_refused AND (isNull(prompt) OR isNull(completion)) AS estimated,
            if(isNull(prompt), '', {class_names:Array(String)}[toUInt32(arrayLastIndex(edge -> edge <= ifNull(prompt, 0), {class_from_tokens:Array(UInt32)}))]) AS length_class,
            toString(upstream) AS upstream,
            reinterpretAsUInt128(sipHash128(content_hash, k)) AS request
        FROM joined
    ),
    grouped AS
    (
        SELECT
            told.tenant AS tenant, told.model AS model, told.inference_mode AS inference_mode, told.start_us AS start_us,
            told.treatment AS treatment, told.estimated AS estimated, told.length_class AS length_class,
            if(attributed.lane > 0, {lane_machines:Array(String)}[toUInt32(attributed.lane)],
                transform(told.upstream, {machine_upstreams:Array(String)}, {upstream_machines:Array(String)}, '')) AS machine,
            count() AS requests,
            sum(toInt64(ifNull(prompt, 0)) - cached) AS uncached,
            sum(toInt64(cached)) AS cached_sum,
            sum(toInt64(ifNull(completion, 0))) AS completions,
            countIf(estimated AND isNull(prompt)) AS unknown_prompts,
            countIf(estimated AND isNull(completion) AND is_whole) AS unknown_completions,
            quantilesExactLowStateIf(0.5)(toInt64(ifNull(prompt, 0)), is_whole AND isNotNull(prompt)) AS prompts_of_hour,
            quantilesExactLowStateIf(0.5)(toInt64(ifNull(completion, 0)), is_whole AND isNotNull(completion)) AS completions_of_hour,
            sum(attributed.picoseconds) AS picoseconds,
            max(toInt64(ifNull(prompt, 0)) + toInt64(ifNull(completion, 0))) AS peak_kv_tokens
        FROM told
        LEFT JOIN attributed ON attributed.request = told.request
        GROUP BY tenant, model, inference_mode, start_us, treatment, estimated, length_class, machine
    ),
    with_medians AS
    (
        SELECT
            *,
            intDiv(start_us, 3600000000) AS hour,
            quantilesExactLowMerge(0.5)(prompts_of_hour) OVER alike AS prompt_median,
            quantilesExactLowMerge(0.5)(completions_of_hour) OVER alike AS completion_median
        FROM grouped
        WINDOW alike AS (PARTITION BY tenant, model, hour)
    )
SELECT
    tenant, start_us, transform(start_us, {group_edges_us:Array(Int64)}, {group_next_edges_us:Array(Int64)}, toInt64(0)) AS end_us,
    model, length_class, inference_mode, machine, treatment, estimated, requests,
    uncached + toInt64(unknown_prompts) * prompt_median[1] AS uncached_prompt_tokens,
    cached_sum AS cached_prompt_tokens,
    completions + toInt64(unknown_completions) * completion_median[1] AS completion_tokens,
    picoseconds AS gpu_picoseconds,
    peak_kv_tokens
FROM with_medians
ORDER BY ALL
