-- What each request of one tenant used, as far as it was measured: nothing is estimated here.
--
-- Reads `joined` and `attributed` (request, picoseconds, lane). Parameters: of_tenant, lane_machines.
SELECT
    received_at, toString(request_id) AS request_id, lower(hex(reinterpretAsUInt128(sipHash128(content_hash, k)) AS row_id)) AS request,
    toString(model) AS model, toString(outcome) AS outcome,
    if(attributed.lane > 0, {lane_machines:Array(String)}[toUInt32(attributed.lane)], '') AS machine,
    prompt_tokens, least(ifNull(cached_tokens, 0), ifNull(prompt_tokens, 0)) AS cached, completion_tokens,
    if(attributed.lane > 0, attributed.picoseconds, NULL) AS gpu_picoseconds
FROM joined
LEFT JOIN attributed ON attributed.request = reinterpretAsUInt128(sipHash128(content_hash, k))
WHERE tenant = {of_tenant:String}
ORDER BY received_at, request
